"""Real text to measure on: `python -m bench real_folder SET TARGET [--downloads DIR] [--also FOLDER ...]`.

SET is `small` (3,500 files), `large` (43,000) or `huge` (144,000, a million segments): documentation packages of Debian 12, listed below. They are fetched with `apt-get download` and unpacked
with `dpkg-deb`; nothing is installed. Every file that is no picture, font, program or part of a page is copied to TARGET/PACKAGE/..., but for links and
for Info files, which hold a manual's whole text once more. `--also` copies further folders in. The versions are written to TARGET/packages.tsv.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path


def _names(text: str) -> list[str]:
    return text.split()


SMALL = _names("""
python3.11-doc libpython3.11-stdlib libpython3.11-minimal postgresql-doc-15 git-doc debian-policy debian-reference-en debian-reference-ja
debian-reference-zh-cn
""")

LARGE = _names("""
apache2-doc debian-faq debian-faq-ja debian-faq-zh-cn developers-reference developers-reference-ja erlang-doc
gimp-help-en gimp-help-ja gimp-help-zh-cn libboost1.74-doc libgtk-3-doc libreoffice-help-en-us libreoffice-help-ja
libreoffice-help-zh-cn linux-doc-6.1 maint-guide manpages manpages-dev manpages-ja manpages-zh ruby3.1-doc sqlite3-doc
zsh-doc
""")

HUGE = _names("""
cmake-doc cppreference-doc-en-html ffmpeg-doc gap-doc gnome-devel-docs gnome-user-docs harden-doc icu-doc libreoffice-help-de libreoffice-help-es
libreoffice-help-fr libreoffice-help-hu libreoffice-help-it libreoffice-help-ko libreoffice-help-nl libreoffice-help-pl libreoffice-help-pt-br
libreoffice-help-ru libreoffice-help-zh-tw libstdc++-12-doc llvm-19-doc manpages-de manpages-es manpages-fr manpages-pl manpages-pt-br manpages-ru
octave-doc openjdk-17-doc python-django-doc python-pandas-doc python-scipy-doc python-sqlalchemy-doc python-sympy-doc qtbase5-doc-html
qtdeclarative5-doc-html racket-doc texlive-latex-recommended-doc vim-doc wx3.2-doc
""")

SETS = {"small": SMALL, "large": SMALL + LARGE, "huge": SMALL + LARGE + HUGE}

LEFT_OUT = frozenset(
    _names("""
    .png .jpg .jpeg .gif .svg .svgz .ico .webp .bmp .mng .xpm .woff .woff2 .ttf .otf .eot .js .css .map .so .inv .ri .chunk .eix
    .index .qhp .rktd .sqlite .sxref .tag
""")
)


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench real_folder", description=__doc__)
    parser.add_argument("set", choices=sorted(SETS))
    parser.add_argument("target", type=Path)
    parser.add_argument("--downloads", type=Path, help="keep the packages here and use them again")
    parser.add_argument("--also", type=Path, nargs="*", default=[], help="folders to copy in beside the packages")
    args = parser.parse_args(argv)
    args.target.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="real-") as place:
        downloads = args.downloads or Path(place, "downloads")
        fetch(SETS[args.set], downloads)
        versions = []
        for name in SETS[args.set]:
            [package] = downloads.glob(f"{name}_*.deb")
            versions.append(f"{name}\t{package.name.split('_')[1]}\n")
            unpacked = Path(place, name)
            subprocess.run(["dpkg-deb", "-x", package, unpacked], check=True)
            copy_texts(unpacked, args.target / name)
            shutil.rmtree(unpacked)
    for folder in args.also:
        copy_texts(folder, args.target / folder.resolve().name)
    (args.target / "packages.tsv").write_text("".join(versions), encoding="utf-8")
    files = [path for path in args.target.rglob("*") if path.is_file()]
    print(f"{len(files):,} files, {sum(p.stat().st_size for p in files) / 1e6:,.0f} MB in {args.target}")


def fetch(names: list[str], downloads: Path) -> None:
    downloads.mkdir(parents=True, exist_ok=True)
    missing = [name for name in names if not list(downloads.glob(f"{name}_*.deb"))]
    if missing:
        subprocess.run(["apt-get", "download", *missing], cwd=downloads, check=True, stdout=subprocess.DEVNULL)


def copy_texts(source: Path, target: Path) -> None:
    for path in sorted(source.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.suffix.lower() in LEFT_OUT or path.parent.name == "info":
            continue
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
