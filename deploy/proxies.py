"""Runs the reverse proxies with the configurations that docs/web.md prints, in front of a page, and logs in through them.

usage: proxies.py DOCUMENT PORT PASSWORD FOLDER

The page listens on PORT of 127.0.0.1, has WEB_HOSTS=mirror.example.org and WEB_USER_HEADER=Remote-User. FOLDER takes the
files of the proxies, and holds a certificate: page.pem with the key behind it. Each configuration is also run after edits
that take something away: then a try must fail.
"""

import http.client
import os
import re
import socket
import ssl
import subprocess
import sys
import time

document, page_port, password, folder = sys.argv[1:]
NAME = "mirror.example.org"


class Refused(Exception):
    """A try through a proxy that went another way than it should."""


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


def require_once(text, part):
    if text.count(part) != 1:
        sys.exit(f"{document}: expected once in a configuration: {part}")
    return part


def replaced(text, part, by):
    return text.replace(require_once(text, part), by)


def printed(language):
    """The configuration in that language, with the port of the page."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", open(document).read(), re.M | re.S)
    if len(blocks) != 1:
        sys.exit(f"{document} has {len(blocks)} configurations for {language}; expected one")
    return replaced(blocks[0], "127.0.0.1:8080", f"127.0.0.1:{page_port}")


# --- What is around each configuration --------------------------------------------------------------------------------


def nginx(block, port):
    places = " ".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return ["nginx", "-p", folder, "-e", f"{folder}/nginx.error", "-c"], f"""
        daemon off;
        pid {folder}/nginx.pid;
        events {{}}
        http {{
            access_log off;
            {places}
            server {{
                listen 127.0.0.1:{port} ssl;
                ssl_certificate {folder}/page.pem;
                ssl_certificate_key {folder}/page.pem;
                {block}
            }}
        }}
    """


def haproxy(block, port):
    bind = "bind :443 ssl crt /etc/haproxy/mirror.pem"
    block = replaced(block, bind, f"bind 127.0.0.1:{port} ssl crt {folder}/page.pem")
    return ["haproxy", "-db", "-f"], f"""
global
    stats socket {folder}/haproxy.sock
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    default-server inter 100ms
{block}
"""


def caddy(block, port):
    sites = f"https://127.0.0.1:{port}, https://{NAME}:{port}"
    block = replaced(block, f"{NAME} {{", f"{sites} {{\n    tls {folder}/page.pem {folder}/page.pem")
    return ["caddy", "run", "--adapter", "caddyfile", "--config"], f"""
{{
    admin off
    auto_https disable_redirects
    default_sni {NAME}
}}
{block}
"""


# --- The tries --------------------------------------------------------------------------------------------------------


def ask(port, name, method, path, headers=(), body=None):
    """Sends a request to the proxy, which the browser would call by that name."""
    context = ssl.create_default_context(cafile=f"{folder}/page.pem")
    connection = http.client.HTTPSConnection(name, port, timeout=20)
    plain = socket.create_connection(("127.0.0.1", port), 20)
    connection.sock = context.wrap_socket(plain, server_hostname=name)
    connection.request(method, path, body, dict(headers))
    answer = connection.getresponse()
    answer.text = answer.read().decode()
    connection.close()
    return answer


def require(fact, words):
    if not fact:
        raise Refused(words)


def try_page(port):
    for name in ("127.0.0.1", NAME):
        shown = ask(port, name, "GET", "/login")
        require(shown.status == 200, f"{name}: the log-in page is answered with {shown.status}")
        form = {"Origin": f"https://{name}:{port}", "Content-Type": "application/x-www-form-urlencoded"}
        opened = ask(port, name, "POST", "/login", form, f"password={password}&next=%2F")
        require(opened.status == 303, f"{name}: the log-in is answered with {opened.status}: {opened.text}")
        cookie = opened.headers.get("Set-Cookie", "")
        require(cookie.startswith("__Host-") and "; Secure" in cookie, f"{name}: the cookie is {cookie}")
        inside = ask(port, name, "GET", "/", {"Cookie": cookie.split(";")[0]})
        require(inside.status == 303, f"{name}: after the log-in / is answered with {inside.status}")
        foreign = ask(port, name, "POST", "/login", form | {"Origin": "https://evil.example"}, f"password={password}")
        require(foreign.status == 403, f"{name}: a foreign form is answered with {foreign.status}")
        named = ask(port, name, "GET", "/", {"Remote-User": "mallory"})
        require(named.status == 401, f"{name}: a Remote-User of a browser is answered with {named.status}")
    strange = ask(port, NAME, "GET", "/login", {"Host": "evil.example"})
    require("password" not in strange.text, "the page is shown for a foreign Host")


def checked_server(folder):
    """The state of haproxy's only server: its status, and the result of the last check."""
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(f"{folder}/haproxy.sock")
        control.sendall(b"show stat\n")
        text = b""
        while more := control.recv(65536):
            text += more
    names, *rows = [line.split(",") for line in text.decode().lstrip("# ").splitlines() if line]
    server = next(row for row in (dict(zip(names, row)) for row in rows) if row["svname"] == "page")
    return server["status"], server["check_status"], int(server["chkfail"] or 0)


def try_checks():
    """haproxy finds the page in order, and never finds it otherwise."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        status, result, failures = checked_server(folder)
        require(failures == 0, f"haproxy's check of the page fails: {status} {result}")
        if result == "L7OK":
            return
        time.sleep(0.1)
    raise Refused("haproxy does not check the page")


def run(language, surround, block):
    """Tries the page behind a proxy.

    Raises Refused if it is not what it should be.
    """
    port = free_port()
    command, text = surround(block, port)
    path = f"{folder}/{language}.conf"
    with open(path, "w") as file:
        file.write(text)
    clean = {"HOME": folder, "PATH": os.environ["PATH"] + ":/usr/sbin"}
    with open(f"{folder}/{language}.log", "wb") as log:
        program = subprocess.Popen(command + [path], stdout=log, stderr=log, env=clean)
    try:
        end = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if program.poll() is not None or time.monotonic() > end:
                    sys.exit(f"{language} does not start:\n" + open(f"{folder}/{language}.log").read())
                time.sleep(0.1)
        if language == "haproxy" and " check\n" in block:
            try_checks()
        try_page(port)
    finally:
        program.terminate()
        program.wait()


def check(language, surround, edits, others=()):
    block = printed(language)
    for variant in [block] + [replaced(block, part, by) for part, by in others]:
        try:
            run(language, surround, variant)
        except Refused as error:
            sys.exit(f"{language}: {error}")
    for part, by in edits:
        try:
            run(language, surround, replaced(block, part, by))
        except Refused:
            continue
        sys.exit(f"{language}: the page is in order also without: {part}")


check("nginx", nginx, [
    ("Host $http_host;", "Host $host;"),
    ("proxy_set_header X-Forwarded-Proto $scheme;", ""),
    ('proxy_set_header Remote-User "";', ""),
])
check("haproxy", haproxy, [
    ("http-request set-header X-Forwarded-Proto https", ""),
    ("http-request del-header Remote-User", ""),
    ("option httpchk GET /healthz", "option httpchk GET /nothing"),
], others=[
    # OPTIONS / of HTTP/1.0, and a check by a service's name.
    ("option httpchk GET /healthz", "option httpchk"),
    ("option httpchk GET /healthz", "option httpchk\n    http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host mirror-bot.internal:8080"),
])
check("caddyfile", caddy, [("header_up -Remote-User", "")])
