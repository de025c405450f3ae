"""What deploy/checks/manifests asks of rendered manifests. Prints a line for each problem, and exits with 1 if there is one.

  manifests.py schemas VERSION STATE    every object fits Kubernetes' JSON schema of that version, with no unknown field
  manifests.py rules DEPLOY STATE       hardening, probes and ports; kustomize and Helm agree; compose.yaml is hardened
"""

import pathlib
import re
import sys

import yaml

HARDENED = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
PROBES = {"startupProbe": "/readyz", "readinessProbe": "/healthz", "livenessProbe": "/healthz"}
problems = []


def expect(place, found, wanted):
    if found != wanted:
        problems.append(f"{place}: {found!r} instead of {wanted!r}")


def load(path):
    return {f"{thing['kind']}/{thing['metadata']['name']}": thing for thing in yaml.safe_load_all(path.read_text()) if thing}


def check_schemas(version, state):
    import kubernetes_validate

    for path in sorted(state.glob("*/*.yaml")):
        for name, thing in load(path).items():
            try:
                kubernetes_validate.validate(thing, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                problems.append(f"{path.name}: {name} {list(error.path)}: {error.message[:200]}")


def check_pod(place, pod, image):
    """The restricted Pod Security Standard, and what Tacet needs besides."""
    container = pod["containers"][0]
    expect(f"{place}: token", pod["automountServiceAccountToken"], False)
    expect(f"{place}: root", pod["securityContext"]["runAsNonRoot"], True)
    expect(f"{place}: seccomp", pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault")
    expect(f"{place}: container", container["securityContext"], HARDENED)
    expect(f"{place}: image", container["image"].rpartition(":")[2], image)
    expect(f"{place}: mounts", {one["name"] for one in container["volumeMounts"]}, {one["name"] for one in pod["volumes"]})
    if "memory" not in container["resources"]["limits"]:
        problems.append(f"{place}: no limit of memory")


def check_serving(place, things, pod):
    container = pod["containers"][0]
    environment = {one["name"]: one["value"] for one in container.get("env", [])}
    for source in container.get("envFrom", []):
        environment = things[f"ConfigMap/{source['configMapRef']['name']}"]["data"] | environment
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    expect(f"{place}: LISTEN_ADDRESS", environment["LISTEN_ADDRESS"], f"0.0.0.0:{ports['http']}")
    expect(f"{place}: METRICS_ADDRESS", environment["METRICS_ADDRESS"], f"0.0.0.0:{ports['metrics']}")
    for probe, path in PROBES.items():
        expect(f"{place}: {probe}", container[probe]["httpGet"], {"path": path, "port": "http"})
    # A stop takes twice DRAIN_SECONDS at most, after the sleep.
    if pod["terminationGracePeriodSeconds"] <= container["lifecycle"]["preStop"]["sleep"]["seconds"] + 2 * int(environment["DRAIN_SECONDS"]):
        problems.append(f"{place}: terminationGracePeriodSeconds is too short")


def plain(thing):
    """Without what only one tool writes: checksums, hooks, and the name of the release."""
    if isinstance(thing, dict):
        kept = {key: plain(value) for key, value in thing.items()
                if key not in ("app.kubernetes.io/instance", "checksum/settings") and not key.startswith("helm.sh/")}
        return {key: value for key, value in kept.items() if (key, value) != ("annotations", {})}
    if isinstance(thing, list):
        return [plain(value) for value in thing]
    return re.sub(r"(tacet-settings)-[a-z0-9]{10}$", r"\1", thing) if isinstance(thing, str) else thing


def check_rules(deploy, state):
    image = str(yaml.safe_load((deploy / "helm/tacet/Chart.yaml").read_text())["appVersion"])
    for path in sorted(state.glob("*/*.yaml")):
        things, place = load(path), f"{path.parent.name}/{path.name}"
        templates = {name: thing["spec"]["template"] for name, thing in things.items() if "template" in thing.get("spec", {})}
        for name, template in templates.items():
            check_pod(f"{place}: {name}", template["spec"], image)
            if name.startswith("Deployment/"):
                check_serving(f"{place}: {name}", things, template["spec"])
    for path in sorted((state / "kustomize").iterdir()):
        one, other = ({plain(name): plain(thing) for name, thing in load(folder / path.name).items()}
                      for folder in (state / "kustomize", state / "helm"))
        expect(f"{path.name}: names", sorted(one), sorted(other))
        for name in one.keys() & other.keys():
            expect(f"{path.name}: {name} by kustomize and Helm", one[name], other[name])
    services = yaml.safe_load((deploy / "compose.yaml").read_text())["services"]
    for name, service in services.items():
        expect(f"compose.yaml: {name}", (service["read_only"], service["cap_drop"]), (True, ["ALL"]))
        # secrets gives files to other users.
        if name != "secrets" and str(service.get("user", "0")).startswith("0"):
            problems.append(f"compose.yaml: {name} runs as root")
        if any(not port.startswith("127.0.0.1:") for port in service.get("ports", [])):
            problems.append(f"compose.yaml: {name} has a port that other machines reach")


if sys.argv[1] == "schemas":
    check_schemas(sys.argv[2], pathlib.Path(sys.argv[3]))
else:
    check_rules(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
print("\n".join(problems), file=sys.stderr)
sys.exit(1 if problems else 0)
