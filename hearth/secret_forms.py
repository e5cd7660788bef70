"""What secrets look like: the tables that `secrets` reads."""

from __future__ import annotations

# Kind, the fixed part that a text must hold, and the pattern, whose group is the part to take out. The forms are
# those that the issuers document. No pattern can fail after a long scan, so finding is linear in the text.
_PREFIXED: tuple[tuple[str, str, str], ...] = tuple(
    (kind, fixed, rf"(?<![A-Za-z0-9]){pattern}")
    for kind, fixed, pattern in (
        ("aws_key", "AKIA", r"AKIA([A-Z0-9]{16})(?![A-Za-z0-9])"),
        ("aws_key", "ASIA", r"ASIA([A-Z0-9]{16})(?![A-Za-z0-9])"),
        ("github_token", "ghp_", r"ghp_([A-Za-z0-9]{30,})"),
        ("github_token", "gho_", r"gho_([A-Za-z0-9]{30,})"),
        ("github_token", "ghu_", r"ghu_([A-Za-z0-9]{30,})"),
        ("github_token", "ghs_", r"ghs_([A-Za-z0-9]{30,})"),
        ("github_token", "ghr_", r"ghr_([A-Za-z0-9]{30,})"),
        ("github_token", "github_pat_", r"github_pat_([A-Za-z0-9_]{30,})"),
        ("gitlab_token", "glpat-", r"glpat-([A-Za-z0-9_-]{20,})"),
        ("slack_token", "xox", r"xox[abeoprs]-([A-Za-z0-9-]{10,})"),
        ("slack_token", "xapp-", r"xapp-([0-9]-[A-Za-z0-9-]{10,})"),
        ("slack_webhook", "hooks.slack.com/", r"hooks\.slack\.com/services/([A-Za-z0-9/]{20,})"),
        ("anthropic_key", "sk-ant-", r"sk-ant-([A-Za-z0-9_-]{20,})"),
        ("openai_key", "sk-", r"sk-(?:proj-|svcacct-|admin-)([A-Za-z0-9_-]{20,})"),
        # With a digit near the start: words joined by hyphens, such as sk-learn-compatible, have none.
        ("openai_key", "sk-", r"sk-(?!ant-|proj-|svcacct-|admin-)((?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{20,})"),
        ("google_key", "AIza", r"AIza([A-Za-z0-9_-]{30,})"),
        ("google_token", "ya29.", r"ya29\.([A-Za-z0-9_-]{20,})"),
        ("google_secret", "GOCSPX-", r"GOCSPX-([A-Za-z0-9_-]{20,})"),
        ("stripe_key", "_live_", r"[sr]k_live_([A-Za-z0-9]{16,})"),
        ("stripe_key", "_test_", r"[sr]k_test_([A-Za-z0-9]{16,})"),
        ("stripe_key", "whsec_", r"whsec_([A-Za-z0-9+/=]{24,})"),
        ("npm_token", "npm_", r"npm_([A-Za-z0-9]{36})(?![A-Za-z0-9])"),
        ("pypi_token", "pypi-AgE", r"pypi-AgE([A-Za-z0-9_-]{40,})"),
        ("huggingface_token", "hf_", r"hf_([A-Za-z0-9]{30,})"),
        ("digitalocean_token", "_v1_", r"do[opr]_v1_([a-f0-9]{64})"),
        ("docker_token", "dckr_pat_", r"dckr_pat_([A-Za-z0-9_-]{20,})"),
        ("vault_token", "hvs.", r"hvs\.([A-Za-z0-9_-]{24,})"),
        ("shopify_token", "shp", r"shp(?:at|ca|pa|ss)_([a-fA-F0-9]{32})"),
        ("sendgrid_key", "SG.", r"SG\.([A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,})"),
        ("telegram_token", ":AA", r"([0-9]{8,10}:AA[A-Za-z0-9_-]{32,})"),
        ("age_key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(1[0-9A-Z]{40,})"),
    )
)
TOKENS = (
    *_PREFIXED,
    # Starts only where a run of its characters starts, or "eyJ-eyJ-..." would be scanned once for each.
    ("jwt", "eyJ", r"(?<![A-Za-z0-9_-])eyJ([A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})"),
    # RFC 3986, section 3.2.1. Templates ($PASS, {pass}, <pass>, ***) are no passwords.
    (
        "url_password",
        "://",
        r"://[^\s/?#:@'\"<>\\]{0,256}:((?!\[redacted\]|[$%{<*])[^\s/?#@'\"<>\\]{1,256})@(?=[^\s@])",
    ),
)

PEM_START = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    # What follows must look like a key: the words alone stand in many programs and manuals.
    r"(?=(?:\s|\\[rn]){1,4}[-+ >|]{0,3}(?:[A-Za-z0-9+/]{16,}|(?:Proc-Type|DEK-Info|Version|Comment)\b))"
)
PEM_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
PEM_BODY = (
    r"(?:[-+ >|]{0,3}(?:[A-Za-z0-9+/=]{1,100}|[A-Z][A-Za-z-]{1,20}: [^\r\n]{0,100})?(?:\s|\\[rn]){1,4})*"
    r"[A-Za-z0-9+/=]*"
)
MAX_PEM = 64 * 1024

SCHEME = r"(?i)(?<![A-Za-z0-9])(?:bearer|token)\s{1,4}((?=[A-Za-z._~+/=-]{0,60}[0-9])[A-Za-z0-9._~+/=-]{16,})"
HEADER = (
    r"(?i)authorization['\"]?\s{0,4}[:=]\s{0,4}['\"]?(?:(?:basic|bearer|token|digest|negotiate)\s{1,4})?"
    r"((?!\[redacted\]|[$%{<*]|(?:basic|bearer|token|digest|negotiate)\b)[A-Za-z0-9._~+/=-]{8,})"
)

KEYWORDS = ("passw", "passphrase", "passcode", "pwd", "secret", "token", "api", "key", "credential")
ASSIGNMENT = (
    r"(?i)(?:passw(?:or)?d|passphrase|passcode|pwd|secret|token|api[_-]?key|key|credential)[A-Za-z0-9_-]{0,40}"
    r"(?P<gap>['\"]?\s{0,4}(?:=>|[:=])\s{0,4}|\s{1,4})"
    r"(?:\"(?P<double>[^\"\r\n]{1,1000})\"|'(?P<single>[^'\r\n]{1,1000})'"
    r"|(?P<bare>[^\s'\"`,;&|<>(){}\[\]]{1,1000})(?![(\[{]))"
)
TEMPLATES = ("$", "%", "{", "<", "*", "[", "...", "xxx", "XXX", "your_", "your-", "your ", "YOUR_", "YOUR-", "YOUR ")


def _words(text: str) -> list[str]:
    return text.split()


WORDS_THAT_ARE_NO_SECRET = frozenset(
    _words(
        "string str text bytes password passwd token secret key required optional none null nil true false undefined"
        " example changeme placeholder bearer basic redacted hidden unknown default missing invalid empty value"
    )
)

NAMES = (
    "password", "passwords", "passwd", "passphrase", "passphrases", "passcode", "secret", "secrets", "credential",
    "credentials", "apikey", "apikeys", "accesskey", "privatekey", "secretkey", "token", "authorization", "cookie",
)  # fmt: skip
KEY_OF = frozenset(_words("api access private secret signing encryption master auth account shared session"))
# `token_count`, `password_file`, `secret_name`: facts about a secret.
FACTS = frozenset(
    _words(
        "file path dir directory folder url uri endpoint type kind name names id ids count counts counter limit length"
        " len size max min budget usage used ttl expiry expires expire expiration timeout ms s seconds at policy hint"
        " prompt field label status state required enabled disabled regex pattern rule rules strength env var ref "
        "version algorithm format persist store manager provider scanner parser class index offset position bytes"
    )
)
PAGING = frozenset(_words("next page continuation sync cancel cancellation previous prev start stop end eos bos pad"))

# Programs whose short options take a password: as the next word, or only joined to the letter.
PASSWORD_OPTIONS = {
    "sshpass": ("-p",),
    "curl": ("-u", "--user", "-U", "--proxy-user"),
    "redis-cli": ("-a",),
    "mongosh": ("-p",),
    "mongo": ("-p",),
    "mongodump": ("-p",),
    "docker": ("-p",),
    "podman": ("-p",),
    "az": ("-p",),
    "psexec": ("-p",),
    "sqlcmd": ("-P",),
    "bcp": ("-P",),
    "ldapsearch": ("-w",),
    "ldapmodify": ("-w",),
    "zip": ("-P",),
    "unzip": ("-P",),
    "openssl": ("-passin", "-passout", "-k", "-K"),
    "schtasks": ("/rp", "/RP", "/p", "/P"),
}
JOINED_OPTIONS = {"mysql": "-p", "mysqldump": "-p", "mysqladmin": "-p", "mariadb": "-p", "7z": "-p", "7za": "-p"}
LOGIN_ONLY = ("docker", "podman", "az")  # elsewhere their -p is a port or a path
