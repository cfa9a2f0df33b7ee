"""Which data files exist, where they are looked for, and how to be sure they are the right ones."""

import gzip
import hashlib
import io
import os
import urllib.request
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from inctnp.errors import DataError, MissingDataError, UnknownNameError

UCI = "https://archive.ics.uci.edu/"


@dataclass(frozen=True, kw_only=True)
class Download:
    """A public copy of a table, pinned by what is in it: archives are repacked, tables are not."""

    url: str
    """A CSV file, or a zip archive that holds one."""
    sha256: str
    """Of the uncompressed CSV with line feeds."""
    member: str | None = None
    """The file inside the archive."""


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """One file the library knows how to read."""

    name: str
    """Path below a data folder."""
    sha256: str
    """Of the file as it lies there."""
    licence: str
    redistributable: bool
    """Whether its terms allow passing copies on; never ship one of these in the package."""
    home: str
    """The public page it comes from."""
    download: Download | None = None


_KNOWN = (
    DataFile(
        name="uci/SkillCraft1_Dataset.csv.gz",
        sha256="315726e752464b8ffc6e7becd23108abe44cd34326c319ea7c84d7f1d93b6508",
        licence="CC BY 4.0",
        redistributable=True,
        home=f"{UCI}dataset/272/skillcraft1+master+table+dataset",
        download=Download(
            url=f"{UCI}static/public/272/skillcraft1+master+table+dataset.zip",
            sha256="f622d45649c69f0a493d6b45ea1a90aa2de1b5a7a29f724f34fe877ca5c93b11",
            member="SkillCraft1_Dataset.csv",
        ),
    ),
    DataFile(
        name="uci/CCPP_Folds5x2_pp_sheet1.csv.gz",
        sha256="250d47d9531f2a24100c9a0d5ca090e8ad4d2f5bab432d12895c590b3108f7bf",
        licence="CC BY 4.0",
        redistributable=True,
        home=f"{UCI}dataset/294/combined+cycle+power+plant (sheet 1 of Folds5x2_pp.xlsx, saved as CSV)",
    ),
    DataFile(
        name="uci/elevators.csv.gz",
        sha256="101d17d25c0cc229c718b1de61099556f6d295c190b2d549282e753f4c7934b5",
        licence="none stated",
        redistributable=False,
        home="https://www.openml.org/d/216 (saved as CSV, the target last and named Goal)",
    ),
    DataFile(
        name="uci/CASP.csv.gz",
        sha256="7a53d7b8ccac466197a08146a49d56b30f242493ea82887cf7b35c9161246ef1",
        licence="CC BY 4.0",
        redistributable=True,
        home=f"{UCI}dataset/265/physicochemical+properties+of+protein+tertiary+structure",
        download=Download(
            url=f"{UCI}static/public/265/physicochemical+properties+of+protein+tertiary+structure.zip",
            sha256="79970059d24ea8df7993c6012004d63c3ebc46bb886c9b222e460b197cae962f",
            member="CASP.csv",
        ),
    ),
    DataFile(
        name="stations/hadisd_stations.csv.gz",
        sha256="20cc6728cfa2ecd643bff487fb83adf6894e080a6a966ff9445d5887649c7fe7",
        licence="Met Office HadISD terms",
        redistributable=False,
        home="https://www.metoffice.gov.uk/hadobs/hadisd/",
    ),
    DataFile(
        name="stations/synop_france_3h.parquet",
        sha256="092cf863cba1347aceef054d551b30e63715ff2dd8c56de27e2fb3807a5c0540",
        licence="Licence Ouverte (Etalab)",
        redistributable=True,
        home="https://www.data.gouv.fr/ (Météo-France, donnees SYNOP essentielles OMM)",
    ),
    DataFile(
        name="stations/met_eireann_2017_hourly.parquet",
        sha256="db3884fd44bfb491b03e9e31979fbbc64198f79f371d90033153448045573fd2",
        licence="CC BY 4.0, copyright Met Éireann",
        redistributable=True,
        home="https://cran.r-project.org/package=aimsir17",
    ),
    DataFile(
        name="stations/trentino_2004_2005_hourly.parquet",
        sha256="fd6cbab84a5273a76e61ee88d70820384077442c12896c6bb75d48cc335bdb0c",
        licence="research purposes only (Provincia Autonoma di Trento)",
        redistributable=False,
        home="https://cran.r-project.org/package=Interpol.T",
    ),
    DataFile(
        name="stations/isd_21cities_3h_1980_2022.parquet",
        sha256="8bb234cc00329e69112ba6e21f4a9287babacf824b50ec6154b70169f57e37bf",
        licence="public domain in the US; WMO Resolution 40 elsewhere",
        redistributable=False,
        home="https://www.ncei.noaa.gov/products/land-based-station/integrated-surface-database",
    ),
    DataFile(
        name="stations/gsod_cities_daily_1995_2014.parquet",
        sha256="fe2be19f8aa3abc24b573d656614124be1a65bca09e4eb8681e8d31d252b2d71",
        licence="research and non-commercial use (University of Dayton)",
        redistributable=False,
        home="https://academic.udayton.edu/kissock/http/Weather/",
    ),
    DataFile(
        name="stations/gsod_ecad_daily_2011_07_01_12.parquet",
        sha256="bd84d741a3bbd5ff22ea8a9a5c3ac492fe672efcddd232ead2951a52f62f4281",
        licence="non-commercial research and education (ECA&D)",
        redistributable=False,
        home="https://cran.r-project.org/package=meteo",
    ),
)

FILES: dict[str, DataFile] = {file.name: file for file in _KNOWN}


def known(name: str) -> DataFile:
    """The registered file of this name.

    >>> known("uci/CASP.csv.gz").licence
    'CC BY 4.0'
    """
    if name not in FILES:
        raise UnknownNameError(f"No data file is called {name!r}. Known: {', '.join(FILES)}.")
    return FILES[name]


def cache_folder() -> Path:
    """Where downloads go."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "inctnp" / "data"


def folders() -> list[Path]:
    """Where files are looked for, in this order."""
    named = os.environ.get("INCTNP_DATA")
    checkout = Path(__file__).resolve().parents[3]
    beside = [base.parent / "shared" / "data" for base in (checkout, Path.cwd())]
    return [*([Path(named).expanduser()] if named else []), *beside, cache_folder()]


def find(name: str) -> Path:
    """The path of a registered file, its content verified; never touches the network."""
    file = known(name)
    for folder in folders():
        path = folder / name
        if path.is_file():
            _verify(path, file)
            return path
    way = f"run `inctnp.generators.files.download({name!r})`" if file.download else f"get it from {file.home}"
    looked = ", ".join(dict.fromkeys(map(str, folders())))
    raise MissingDataError(
        f"Data file {name} was not found in {looked}. To have it, {way} (licence: {file.licence}), "
        "or point INCTNP_DATA at a folder that holds it."
    )


def why_missing(*names: str) -> str | None:
    """Why these files cannot be used, or None when all can: what a test says when it skips.

    >>> why_missing() is None
    True
    """
    try:
        for name in names:
            find(name)
    except MissingDataError as error:
        return str(error)
    return None


def download(name: str) -> Path:
    """Fetch a registered file from its public home into the user's cache, if its content is what it should be."""
    source = known(name).download
    if source is None:
        raise MissingDataError(f"{name} has no download that can be pinned: get it from {known(name).home}.")
    with urllib.request.urlopen(source.url) as response:
        content = response.read()
    if source.member is not None:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            content = archive.read(source.member)
    content = content.replace(b"\r\n", b"\n")
    _compare(hashlib.sha256(content).hexdigest(), source.sha256, source.url)
    return _store(cache_folder() / name, content)


def _store(path: Path, content: bytes) -> Path:
    """Write compressed and all at once: a reader never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        partial.write_bytes(gzip.compress(content, mtime=0))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def _verify(path: Path, file: DataFile) -> None:
    """Compare the bytes, or, where compressors differ, the content."""
    stat = path.stat()
    packed, content = _digests(path, stat.st_size, stat.st_mtime_ns)
    if file.download is None or content != file.download.sha256:
        _compare(packed, file.sha256, str(path))


# A file is read for its hash once per process, and again only if it changed.
@lru_cache(maxsize=64)
def _digests(path: Path, size: int, modified: int) -> tuple[str, str | None]:
    raw = path.read_bytes()
    try:
        content = hashlib.sha256(gzip.decompress(raw)).hexdigest() if path.suffix == ".gz" else None
    except (OSError, EOFError):
        content = None  # a damaged archive: the comparison of its bytes says so
    return hashlib.sha256(raw).hexdigest(), content


def _compare(found: str, expected: str, where: str) -> None:
    if found != expected:
        raise DataError(
            f"{where} is not the expected file: sha256 {expected[:12]}… was expected, {found[:12]}… is there. "
            "Remove it and fetch it again."
        )
