//===- ReservedWords.cpp - names that C and C++ programs may not choose --------------------===//
#include "driver/ReservedWords.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"

namespace tokamak::driver {

/// Keywords of C23 and C++20, alternative tokens included, and words that only mean something in places.
static constexpr llvm::StringLiteral keywords = R"(
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t
class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue
decltype default delete do double dynamic_cast else enum explicit export extern false final float for
friend goto if inline int long main mutable namespace new noexcept not not_eq nullptr operator or or_eq
override private protected public register reinterpret_cast requires restrict return short signed sizeof
static static_assert static_cast struct switch template this thread_local throw true try typedef typeid
typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq
)";

/// Types of the C library.
static constexpr llvm::StringLiteral types = R"(
DIR FILE blkcnt_t blksize_t clock_t clockid_t cnd_t dev_t div_t double_t errno_t femode_t fenv_t
fexcept_t float_t fpos_t gid_t id_t imaxdiv_t ino_t jmp_buf key_t ldiv_t lldiv_t locale_t loff_t
max_align_t mbstate_t mode_t mtx_t nlink_t nullptr_t off64_t off_t once_flag pid_t pthread_t ptrdiff_t
register_t rsize_t sig_atomic_t sigjmp_buf sigset_t size_t ssize_t suseconds_t thrd_t time_t timer_t
tss_t uid_t useconds_t va_list wctrans_t wctype_t wint_t
)";

/// Macros of the C library's headers, with POSIX's and Linux's names in them, and of compilers, that are no
/// part of a family below. Those that take arguments mean nothing where none follow, but read like keywords.
static constexpr llvm::StringLiteral macros = R"(
ADJ_ESTERROR ADJ_FREQUENCY ADJ_MAXERROR ADJ_MICRO ADJ_NANO ADJ_OFFSET ADJ_OFFSET_SINGLESHOT
ADJ_OFFSET_SS_READ ADJ_SETOFFSET ADJ_STATUS ADJ_TAI ADJ_TICK ADJ_TIMECONST AIO_PRIO_DELTA_MAX
BC_BASE_MAX BC_DIM_MAX BC_SCALE_MAX BC_STRING_MAX BIG_ENDIAN BUFSIZ BUS_ADRALN BUS_ADRERR BUS_MCEERR_AO
BUS_MCEERR_AR BUS_OBJERR BYTE_ORDER CHARCLASS_NAME_MAX CHAR_BIT CLD_CONTINUED CLD_DUMPED CLD_EXITED
CLD_KILLED CLD_STOPPED CLD_TRAPPED CLOCKS_PER_SEC CLOCK_BOOTTIME CLOCK_BOOTTIME_ALARM CLOCK_MONOTONIC
CLOCK_MONOTONIC_COARSE CLOCK_MONOTONIC_RAW CLOCK_PROCESS_CPUTIME_ID CLOCK_REALTIME CLOCK_REALTIME_ALARM
CLOCK_REALTIME_COARSE CLOCK_TAI CLOCK_THREAD_CPUTIME_ID CLOSE_RANGE_CLOEXEC CLOSE_RANGE_UNSHARE
COLL_WEIGHTS_MAX DECIMAL_DIG DELAYTIMER_MAX E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT
EAGAIN EALREADY EBADE EBADF EBADFD EBADMSG EBADR EBADRQC EBADSLT EBFONT EBUSY ECANCELED ECHILD ECHRNG
ECOMM ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EDEADLOCK EDESTADDRREQ EDOM EDOTDOT EDQUOT EEXIST
EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EHWPOISON EIDRM EILSEQ EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR
EISNAM EKEYEXPIRED EKEYREJECTED EKEYREVOKED EL2HLT EL2NSYNC EL3HLT EL3RST ELIBACC ELIBBAD ELIBEXEC
ELIBMAX ELIBSCN ELNRNG ELOOP EMEDIUMTYPE EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENAVAIL ENETDOWN
ENETRESET ENETUNREACH ENFILE ENOANO ENOBUFS ENOCSI ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOLCK ENOLINK
ENOMEDIUM ENOMEM ENOMSG ENONET ENOPKG ENOPROTOOPT ENOSPC ENOSR ENOSTR ENOSYS ENOTBLK ENOTCONN ENOTDIR
ENOTEMPTY ENOTNAM ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENOTUNIQ ENXIO EOF EOPNOTSUPP EOVERFLOW
EOWNERDEAD EPERM EPFNOSUPPORT EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE EREMCHG EREMOTE EREMOTEIO
ERESTART ERFKILL EROFS ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME ETIMEDOUT
ETOOMANYREFS ETXTBSY EUCLEAN EUNATCH EUSERS EWOULDBLOCK EXDEV EXFULL EXIT_FAILURE EXIT_SUCCESS
EXPR_NEST_MAX FD_SETSIZE FILENAME_MAX FOPEN_MAX FPE_CONDTRAP FPE_FLTDIV FPE_FLTINV FPE_FLTOVF FPE_FLTRES
FPE_FLTSUB FPE_FLTUND FPE_FLTUNK FPE_INTDIV FPE_INTOVF F_LOCK F_OK F_TEST F_TLOCK F_ULOCK HOST_NAME_MAX
HUGE_VAL HUGE_VALF HUGE_VALL HUGE_VAL_F128 HUGE_VAL_F32 HUGE_VAL_F32X HUGE_VAL_F64 HUGE_VAL_F64X I
ILL_BADIADDR ILL_BADSTK ILL_COPROC ILL_ILLADR ILL_ILLOPC ILL_ILLOPN ILL_ILLTRP ILL_PRVOPC ILL_PRVREG
INFINITY IOV_MAX LINE_MAX LITTLE_ENDIAN LOGIN_NAME_MAX LONG_BIT L_INCR L_SET L_XTND L_ctermid L_cuserid
L_tmpnam MATH_ERREXCEPT MATH_ERRNO MAXFLOAT MAX_CANON MAX_INPUT MB_CUR_MAX MB_LEN_MAX MINSIGSTKSZ
MOD_CLKA MOD_CLKB MOD_ESTERROR MOD_FREQUENCY MOD_MAXERROR MOD_MICRO MOD_NANO MOD_OFFSET MOD_STATUS
MOD_TAI MOD_TIMECONST MQ_PRIO_MAX NAME_MAX NAN NFDBITS NGREG NGROUPS_MAX NL_ARGMAX NL_LANGMAX NL_MSGMAX
NL_NMAX NL_SETMAX NL_TEXTMAX NSIG NULL NZERO ONCE_FLAG_INIT PATH_MAX PDP_ENDIAN PIPE_BUF POLL_ERR
POLL_HUP POLL_IN POLL_MSG POLL_OUT POLL_PRI PTHREAD_DESTRUCTOR_ITERATIONS PTHREAD_KEYS_MAX
PTHREAD_STACK_MIN P_tmpdir RAND_MAX REG_CR2 REG_CSGSFS REG_EFL REG_ERR REG_OLDMASK REG_R10 REG_R11
REG_R12 REG_R13 REG_R14 REG_R15 REG_R8 REG_R9 REG_RAX REG_RBP REG_RBX REG_RCX REG_RDI REG_RDX REG_RIP
REG_RSI REG_RSP REG_TRAPNO RENAME_EXCHANGE RENAME_NOREPLACE RENAME_WHITEOUT RE_DUP_MAX RTSIG_MAX R_OK
SA_INTERRUPT SA_NOCLDSTOP SA_NOCLDWAIT SA_NODEFER SA_NOMASK SA_ONESHOT SA_ONSTACK SA_RESETHAND
SA_RESTART SA_SIGINFO SA_STACK SEEK_CUR SEEK_DATA SEEK_END SEEK_HOLE SEEK_SET SEGV_ACCADI SEGV_ACCERR
SEGV_ADIDERR SEGV_ADIPERR SEGV_BNDERR SEGV_MAPERR SEGV_MTEAERR SEGV_MTESERR SEGV_PKUERR SEM_VALUE_MAX
SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGEV_NONE SIGEV_SIGNAL SIGEV_THREAD SIGEV_THREAD_ID
SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL SIGPIPE SIGPOLL SIGPROF SIGPWR SIGQUIT SIGRTMAX
SIGRTMIN SIGSEGV SIGSTKFLT SIGSTKSZ SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG
SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ SIG_BLOCK SIG_DFL SIG_ERR SIG_HOLD SIG_IGN
SIG_SETMASK SIG_UNBLOCK SI_ASYNCIO SI_ASYNCNL SI_DETHREAD SI_KERNEL SI_MESGQ SI_QUEUE SI_SIGIO SI_TIMER
SI_TKILL SI_USER SNAN SNANF SNANF128 SNANF32 SNANF32X SNANF64 SNANF64X SNANL SS_DISABLE SS_ONSTACK
STA_CLK STA_CLOCKERR STA_DEL STA_FLL STA_FREQHOLD STA_INS STA_MODE STA_NANO STA_PLL STA_PPSERROR
STA_PPSFREQ STA_PPSJITTER STA_PPSSIGNAL STA_PPSTIME STA_PPSWANDER STA_RONLY STA_UNSYNC STDERR_FILENO
STDIN_FILENO STDOUT_FILENO TIMER_ABSTIME TIME_UTC TMP_MAX TRAP_BRANCH TRAP_BRKPT TRAP_HWBKPT TRAP_TRACE
TRAP_UNK TSS_DTOR_ITERATIONS TTY_NAME_MAX WCONTINUED WEOF WEXITED WNOHANG WNOWAIT WORD_BIT WSTOPPED
WUNTRACED W_OK XATTR_LIST_MAX XATTR_NAME_MAX XATTR_SIZE_MAX X_OK assert
atomic_compare_exchange_strong_explicit atomic_compare_exchange_weak_explicit atomic_exchange_explicit
atomic_fetch_add_explicit atomic_fetch_and_explicit atomic_fetch_or_explicit atomic_fetch_sub_explicit
atomic_fetch_xor_explicit atomic_init atomic_load_explicit atomic_store_explicit complex errno i386
imaginary linux math_errhandling mips noreturn offsetof sa_handler sa_sigaction setjmp si_addr
si_addr_lsb si_arch si_band si_call_addr si_fd si_int si_lower si_overrun si_pid si_pkey si_ptr
si_status si_stime si_syscall si_timerid si_uid si_upper si_utime si_value sigev_notify_attributes
sigev_notify_function sparc stderr stdin stdout unix unreachable va_arg va_copy va_end va_start
)";

/// Families of the C library's types and macros.
static constexpr const char *families[] = {
    "^u?int(_least|_fast)?(8|16|32|64)_t$",
    "^u?int(max|ptr)_t$",
    "^char(8|16|32)_t$",
    "^U?INT(_LEAST|_FAST)?(8|16|32|64)_(MAX|MIN|WIDTH|C)$",
    "^U?INT(MAX|PTR)_(MAX|MIN|WIDTH|C)$",
    "^(S?SIZE|RSIZE|PTRDIFF|SIG_ATOMIC|WCHAR|WINT|BOOL)_(MAX|MIN|WIDTH)$",
    "^([SU]?CHAR|U?SHRT|U?INT|U?LONG|U?LLONG|U?LONG_LONG)_(MAX|MIN|WIDTH)$",
    "^(FLT|L?DBL|DEC)_[A-Z0-9_]+$",
    "^(PRI|SCN)[bBdiouxX](LEAST|FAST)?(8|16|32|64|MAX|PTR)$",
    "^M_(E|LOG2E|LOG10E|LN2|LN10|PI|PI_2|PI_4|1_PI|2_PI|2_SQRTPI|SQRT2|SQRT1_2)(l|f[0-9]*x?)?$",
    "^(FE|FP|LC|ATOMIC)_[A-Z0-9_]+$",
};

static llvm::StringSet<> allWords() {
  llvm::StringSet<> all;
  for (llvm::StringRef list : {keywords, types, macros}) {
    llvm::SmallVector<llvm::StringRef> words;
    llvm::SplitString(list, words);
    for (llvm::StringRef word : words)
      all.insert(word);
  }
  return all;
}

bool isReservedWord(llvm::StringRef word) {
  static const llvm::StringSet<> words = allWords();
  return words.contains(word) ||
         llvm::any_of(families, [&](const char *family) { return llvm::Regex(family).match(word); });
}

} // namespace tokamak::driver
