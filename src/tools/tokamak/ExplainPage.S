/*===- ExplainPage.S - the parts of the page as bytes ---------------------------------------===*/
/* Found through -I src/tools/tokamak; see CMakeLists.txt. */
.macro part name, file
        .globl tokamak_page_\name
        .hidden tokamak_page_\name
tokamak_page_\name:
        .incbin "\file"
        .byte 0
.endm
        .section .rodata
        part markup, "page/page.html"
        part style, "page/page.css"
        part layout, "page/layout.js"
        part view, "page/view.js"
        part details, "page/details.js"
        .section .note.GNU-stack,"",@progbits
