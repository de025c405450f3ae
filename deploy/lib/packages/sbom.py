"""What a program is made of, as a CycloneDX document on standard output.

    sbom.py CHECKOUT PROGRAMS PROGRAM VERSION EPOCH

PROGRAMS is the folder with what the linker was given, PROGRAM the file that is installed; EPOCH, seconds since 1970, is the document's time. Swift
packages and Swift's own libraries are inside the program; the C libraries are those of the system.
"""

import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import uuid

checkout, programs, program = (pathlib.Path(argument) for argument in sys.argv[1:4])
version, epoch = sys.argv[4], int(sys.argv[5])


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def linked_modules():
    objects = (programs / "tacet.product" / "Objects.LinkFileList").read_text()
    return set(re.findall(r"/(\w[\w-]*)\.build/", objects))


def licence(folder):
    for file in sorted(folder.glob("LICENSE*")):
        text = file.read_text()
        for words, name in (("Apache License", "Apache-2.0"), ("MIT License", "MIT"), ("Permission is hereby granted", "MIT")):
            if words in text:
                return [{"license": {"id": name}}]
    return []


def swift_packages():
    """Those of which the linker got a module."""
    linked = linked_modules()
    for pin in json.loads((checkout / "Package.resolved").read_text())["pins"]:
        location = pin["location"].removesuffix(".git")
        folder = checkout / ".build" / "checkouts" / location.rsplit("/", 1)[-1]
        modules = {path.name for path in (folder / "Sources").glob("*") if path.is_dir()}
        if modules & linked:
            number = pin["state"]["version"]
            where = location.split("://", 1)[-1]
            yield component(pin["identity"], number, f"pkg:swift/{where}@{number}", licence(folder))


def toolchain():
    number = re.search(r"Swift version (\S+)", output("swift", "--version")).group(1)
    return component("swift", number, f"pkg:github/swiftlang/swift@swift-{number}-RELEASE", [{"license": {"id": "Apache-2.0"}}])


def system_libraries():
    needed = re.findall(r"\(NEEDED\)\s+Shared library: \[(.+)\]", output("readelf", "-d", program))
    paths = dict(re.findall(r"(\S+) => (\S+)", output("ldd", program)))
    for name in sorted(set(needed) & set(paths)):
        package = package_of(pathlib.Path(paths[name]).resolve())
        number, architecture = output("dpkg-query", "-W", "-f", "${Version} ${Architecture}", package).split()
        yield component(package, number, f"pkg:deb/debian/{package}@{number}?arch={architecture}", [])


def package_of(path):
    """The Debian package of a file. Of /usr/lib it may know the file as /lib, where a link leads."""
    for known in (str(path), str(path).removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "-S", known], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":", 1)[0]
    raise SystemExit(f"{path} is of no package")


def component(name, number, purl, licenses):
    made = {"type": "library", "bom-ref": purl, "name": name, "version": number, "purl": purl}
    return made | ({"licenses": licenses} if licenses else {})


def document():
    unique = {made["bom-ref"]: made for made in [*swift_packages(), toolchain(), *system_libraries()]}
    components = [unique[key] for key in sorted(unique)]
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    main = component("tacet", version, f"pkg:generic/tacet@{version}", licence(checkout)) | {"type": "application"}
    main["hashes"] = [{"alg": "SHA-256", "content": digest}]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).isoformat().replace("+00:00", "Z"),
            "component": main,
        },
        "components": components,
        "dependencies": [{"ref": main["bom-ref"], "dependsOn": [made["bom-ref"] for made in components]}],
    }


print(json.dumps(document(), indent=2))
