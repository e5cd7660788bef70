"""Kinds of files by their names, as ripgrep calls them."""

from __future__ import annotations

from collections.abc import Iterable

from hearth.errors import invalid

TYPES: dict[str, tuple[str, ...]] = {
    "asm": ("*.asm", "*.s", "*.S"),
    "c": ("*.[chH]", "*.cats"),
    "cmake": ("*.cmake", "CMakeLists.txt"),
    "config": ("*.cfg", "*.conf", "*.config", "*.ini"),
    "cpp": ("*.[ch]pp", "*.[ch]xx", "*.cc", "*.hh", "*.inl", "*.[hH]"),
    "cs": ("*.cs",),
    "css": ("*.css", "*.scss"),
    "csv": ("*.csv",),
    "dart": ("*.dart",),
    "docker": ("*Dockerfile*",),
    "elixir": ("*.ex", "*.exs", "*.eex", "*.heex"),
    "go": ("*.go",),
    "gradle": ("*.gradle", "*.gradle.kts"),
    "haskell": ("*.hs", "*.lhs"),
    "html": ("*.htm", "*.html", "*.ejs"),
    "java": ("*.java", "*.jsp", "*.properties"),
    "js": ("*.js", "*.jsx", "*.mjs", "*.cjs", "*.vue"),
    "json": ("*.json", "*.jsonl"),
    "julia": ("*.jl",),
    "kotlin": ("*.kt", "*.kts"),
    "log": ("*.log",),
    "lua": ("*.lua",),
    "make": ("[Gg][Nn][Uu]makefile", "[Mm]akefile", "*.mk", "*.mak"),
    "md": ("*.markdown", "*.md", "*.mdown", "*.mkd", "*.mdx"),
    "perl": ("*.pl", "*.pm", "*.t", "*.perl"),
    "php": ("*.php", "*.php[3-9]", "*.phtml"),
    "ps": ("*.ps1", "*.psm1", "*.psd1"),
    "py": ("*.py", "*.pyi"),
    "r": ("*.R", "*.r", "*.Rmd"),
    "rst": ("*.rst",),
    "ruby": ("*.rb", "*.gemspec", "Gemfile", "Rakefile"),
    "rust": ("*.rs",),
    "scala": ("*.scala", "*.sbt"),
    "sh": ("*.sh", "*.bash", "*.zsh", "*.ksh", ".bashrc", ".profile", ".zshrc"),
    "sql": ("*.sql", "*.psql"),
    "svg": ("*.svg",),
    "swift": ("*.swift",),
    "tex": ("*.tex", "*.sty", "*.cls", "*.bib"),
    "toml": ("*.toml", "Cargo.lock"),
    "ts": ("*.ts", "*.tsx", "*.cts", "*.mts"),
    "txt": ("*.txt",),
    "vim": ("*.vim", ".vimrc"),
    "xml": ("*.xml", "*.xsd", "*.xsl", "*.xslt", "*.csproj"),
    "yaml": ("*.yaml", "*.yml"),
    "zig": ("*.zig",),
}


def globs_of(names: Iterable[str]) -> tuple[str, ...]:
    """The globs of some types. Raises `InvalidInput` for a type that is not known."""
    for name in names:
        if name not in TYPES:
            raise invalid("types", "not_one_of", f"there is no type {name!r}", hint=f"the types are {', '.join(TYPES)}")
    return tuple(glob for name in names for glob in TYPES[name])
