"""`python -m hearth`, and the console script."""

import sys


def main() -> None:
    if sys.argv[1:] == ["--version"]:  # answered before anything heavy is imported
        from hearth import __version__

        sys.stdout.write(f"hearth {__version__}\n")
        return
    from hearth.cli.app import main as run

    sys.exit(run())


if __name__ == "__main__":
    main()
