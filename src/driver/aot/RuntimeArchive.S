/*===- RuntimeArchive.S - the runtime library as bytes -----------------------------------===*/
/* RUNTIME_ARCHIVE is the path of libtokamak_runtime.a; see src/driver/CMakeLists.txt. */
        .section .rodata
        .balign 16
        .globl tokamak_runtime_archive
        .hidden tokamak_runtime_archive
tokamak_runtime_archive:
        .incbin RUNTIME_ARCHIVE
        .globl tokamak_runtime_archive_end
        .hidden tokamak_runtime_archive_end
tokamak_runtime_archive_end:
        .byte 0
        .section .note.GNU-stack,"",@progbits
