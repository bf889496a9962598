"""The compose file against the product: its options, names, ports and paths are those that exist."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from askone.cli.main import parser
from askone.server.app import ROUTES
from askone.server.config import ServerConfig
from waiting import HANGS
from walking import commands

yaml = pytest.importorskip("yaml", reason="needs PyYAML")
ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
FILE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES = FILE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
EXAMPLE = dict(
    line.split("=", 1) for line in (DEPLOY / ".env.example").read_text("utf-8").splitlines() if re.match("[A-Z]", line)
)


def filled(text):
    """A value of the file, with what .env.example has, as compose would put it in."""
    return re.sub(r"\$\{(\w+)(?::([-?])([^}]*))?\}", lambda one: EXAMPLE[one[1]] or "chosen", str(text))


def test_every_name_is_in_the_example_and_no_secret_is_in_the_files():
    named = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text("utf-8")))
    named |= set(re.findall(r"\{\$(\w+)", (DEPLOY / "Caddyfile").read_text("utf-8")))
    assert named == set(EXAMPLE)
    assert EXAMPLE["POSTGRES_PASSWORD"] == ""
    ignored = subprocess.run(["git", "check-ignore", "-q", "deploy/.env"], cwd=ROOT, check=False)
    assert ignored.returncode in (0, 128)  # 128: not a clone


def test_the_server_knows_its_options():
    chosen = parser().parse_args([filled(one) for one in SERVICES["askone"]["command"]])
    assert chosen.command == "serve"
    config = ServerConfig(
        host=chosen.host, port=chosen.port, processes=chosen.processes, public_url=chosen.public_url,
        trusted_proxies=tuple(chosen.trust_proxy),
    )  # fmt: skip
    assert config.tls  # cookies are Secure
    assert EXAMPLE["ASKONE_HOST"] in config.names
    assert not config.loopback  # the proxy is another container
    assert SERVICES["proxy"]["networks"]["inside"]["ipv4_address"] in config.trusted_proxies
    assert ROOT / "deploy" / SERVICES["askone"]["build"] / "Dockerfile" == DEPLOY / ".." / "Dockerfile"


def test_services_find_each_other():
    store, database = SERVICES["askone"]["environment"]["ASKONE_STORE"], SERVICES["db"]["environment"]
    assert "ASKONE_STORE" in DOCKERFILE
    assert store == f"postgresql://{database['POSTGRES_USER']}@db:5432/{database['POSTGRES_DB']}"
    assert SERVICES["askone"]["environment"]["PGPASSWORD"] == "${POSTGRES_PASSWORD}"
    port = next(one.split("=")[1] for one in SERVICES["askone"]["command"] if one.startswith("--port="))
    assert f"reverse_proxy askone:{port}" in (DEPLOY / "Caddyfile").read_text("utf-8")
    assert f"EXPOSE {port}" in DOCKERFILE
    assert "psycopg" in (ROOT / "requirements" / "server.txt").read_text("utf-8")  # what the image installs


def test_health_is_asked_for_where_it_is_said():
    for name, service in SERVICES.items():
        assert service["healthcheck"]["test"][0] == "CMD", name
        assert service["restart"] == "unless-stopped", name
    path = re.search(r"http://127\.0\.0\.1:8000(/[\w/]+)", " ".join(SERVICES["askone"]["healthcheck"]["test"]))[1]
    assert path in {route.path for route in ROUTES}


def test_what_is_kept_is_in_volumes_and_only_the_proxy_is_reached():
    kept = {name: [one.partition(":") for one in service["volumes"]] for name, service in SERVICES.items()}
    assert {source for volumes in kept.values() for source, _, _ in volumes} - set(FILE["volumes"]) == {"./Caddyfile"}
    assert "VOLUME /data" in DOCKERFILE
    assert kept["askone"] == [("cache", ":", "/data")]
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]


def test_commands_of_the_page_exist():
    """Those that run in the container, too: what stands behind the service's name is for askone."""
    seen = 0
    for words in commands(ROOT / "docs" / "operations.md"):
        if words[:3] in (["docker", "compose", "run"], ["docker", "compose", "exec"]):
            service, *said = [word for word in words[3:] if word not in ("--rm", "-T")]
            assert service in SERVICES
            if service == "askone":
                assert words[2] == "run" or said.pop(0) == "askone"
                parser().parse_args(said)
                seen += 1
    assert seen >= 4


@pytest.mark.skipif(shutil.which("caddy") is None, reason="caddy is not installed")
def test_caddy_reads_its_file(tmp_path):
    command = ["caddy", "adapt", "--validate", "--config", DEPLOY / "Caddyfile"]
    environment = os.environ | EXAMPLE | {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stderr
    assert '"dial":"askone:8000"' in done.stdout
