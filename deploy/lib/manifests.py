"""What deploy/check-manifests asks of rendered manifests. Prints a line for each problem, and exits with 1 if there is one.

  manifests.py schemas VERSION FILE...       every object fits Kubernetes' JSON schema of that version, with no unknown field
  manifests.py rules VERSION FILE...         references, selectors, ports, times and the restricted profile; images of that version
  manifests.py same FILE FILE                two renderings have the same objects
  manifests.py compose VERSION FILE          the same of compose.yaml, as docker compose prints it in JSON
  manifests.py environment FILE [SERVICE]    prints the environment of tacet serve, or of a service of compose.yaml
"""

import json
import pathlib
import re
import sys

import yaml

problems = []
APNS_PORTS = {443, 2197}


def problem(place, text):
    problems.append(f"{place}: {text}")


def name_of(thing):
    return f"{thing['kind']}/{thing['metadata']['name']}"


def load(path):
    return [thing for thing in yaml.safe_load_all(pathlib.Path(path).read_text()) if thing]


def pick(thing, path, default=None):
    for key in path.split("."):
        thing = thing.get(key) if isinstance(thing, dict) else None
    return default if thing is None else thing


def check_schemas(version, files):
    import kubernetes_validate

    for path in files:
        for thing in load(path):
            try:
                kubernetes_validate.validate(thing, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                at = ".".join(str(part) for part in error.path)
                problem(path, f"{name_of(thing)} {at}: {error.message[:200]} (Kubernetes {version})")


def check_pod(place, pod, version):
    """The restricted Pod Security Standard, and what Tacet needs besides."""
    container = pod["containers"][0]
    expected = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext.runAsNonRoot": True,
        "securityContext.seccompProfile.type": "RuntimeDefault",
    }
    for path, value in expected.items():
        if pick(pod, path) != value:
            problem(place, f"{path} is {pick(pod, path)!r} instead of {value!r}")
    if not pick(pod, "securityContext.runAsUser"):
        problem(place, "no runAsUser other than root")
    security = container.get("securityContext", {})
    if security != {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}:
        problem(place, f"securityContext of the container is {security}")
    if container["image"].rpartition(":")[2] != version:
        problem(place, f"the image is {container['image']}, and tacet --version {version}")
    for path in "resources.requests.cpu", "resources.requests.memory", "resources.limits.memory":
        if not pick(container, path):
            problem(place, f"no {path}")
    if any(set(volume) - {"name", "secret", "configMap"} for volume in pod.get("volumes", [])):
        problem(place, "a volume that is neither Secret nor ConfigMap")
    mounted = {mount["name"] for mount in container.get("volumeMounts", [])}
    if mounted != {volume["name"] for volume in pod.get("volumes", [])}:
        problem(place, "volumes and volumeMounts differ")


def environment_of(things, container):
    """What the container is started with: its own variables win over those of ConfigMaps."""
    maps = {thing["metadata"]["name"]: thing["data"] for thing in things if thing["kind"] == "ConfigMap"}
    found = {}
    for source in container.get("envFrom", []):
        name = source["configMapRef"]["name"]
        if name not in maps:
            problem("Deployment", f"there is no ConfigMap {name}")
        found |= maps.get(name, {})
    return found | {variable["name"]: variable["value"] for variable in container.get("env", [])}


def serving_pod(things):
    return next(thing for thing in things if thing["kind"] == "Deployment")["spec"]["template"]["spec"]


def check_service_pod(place, things, pod):
    container = pod["containers"][0]
    environment = environment_of(things, container)
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    for name, key in ("http", "LISTEN_ADDRESS"), ("metrics", "METRICS_ADDRESS"):
        if environment.get(key) != f"0.0.0.0:{ports.get(name)}":
            problem(place, f"port {name} is {ports.get(name)}, and {key} {environment.get(key)}")
    for probe, path in ("startupProbe", "/readyz"), ("readinessProbe", "/healthz"), ("livenessProbe", "/healthz"):
        if pick(container, f"{probe}.httpGet") != {"path": path, "port": "http"}:
            problem(place, f"{probe} does not ask {path} at the port http")
    # A stop takes twice DRAIN_SECONDS at most, after the sleep.
    needed = pick(container, "lifecycle.preStop.sleep.seconds", 0) + 2 * int(environment.get("DRAIN_SECONDS", 15))
    if pod.get("terminationGracePeriodSeconds", 30) <= needed:
        problem(place, f"terminationGracePeriodSeconds has to be more than {needed}")
    folder = container["volumeMounts"][0]["mountPath"]
    for key in "TACET_CONFIG", "APNS_PRIVATE_KEY_FILE":
        if not environment.get(key, "").startswith(folder + "/"):
            problem(place, f"{key} is not in {folder}")


def egress_ports(policy):
    return {port["port"] for rule in policy["spec"].get("egress", []) for port in rule.get("ports", [])}


def check_rules(version, path):
    things = load(path)
    by_name = {name_of(thing): thing for thing in things}
    pods = {}
    for name, thing in by_name.items():
        template = pick(thing, "spec.template")
        if not template:
            continue
        pods[name] = template["metadata"]["labels"]
        check_pod(f"{path}: {name}", template["spec"], version)
        account = template["spec"].get("serviceAccountName")
        if account and f"ServiceAccount/{account}" not in by_name:
            problem(path, f"{name}: there is no ServiceAccount {account}")
        if thing["kind"] == "Deployment":
            check_service_pod(f"{path}: {name}", things, template["spec"])
    for name, thing in by_name.items():
        selector = pick(thing, "spec.podSelector.matchLabels") or pick(thing, "spec.selector.matchLabels")
        selector = selector or (pick(thing, "spec.selector") if thing["kind"] == "Service" else None)
        if selector and sum(selector.items() <= labels.items() for labels in pods.values()) != 1:
            problem(path, f"{name} does not select the pods of exactly one Deployment or Job")
        if thing["kind"] == "Service":
            named = {port["name"] for port in serving_pod(things)["containers"][0]["ports"]}
            if {port["targetPort"] for port in thing["spec"]["ports"]} - named:
                problem(path, f"{name}: a targetPort is no port of the pods")
        if thing["kind"] == "HorizontalPodAutoscaler":
            target = thing["spec"]["scaleTargetRef"]
            if "replicas" in pick(by_name, f"{target['kind']}/{target['name']}.spec", {"replicas": 0}):
                problem(path, f"{name}: its target does not exist, or sets replicas itself")
        if thing["kind"] == "NetworkPolicy":
            needed = {53} if name.endswith("-migrate") else {53} | APNS_PORTS
            if missing := needed - egress_ports(thing):
                problem(path, f"{name} does not let out to {sorted(missing)}")


def plain(thing):
    """Without what only one tool writes: checksums, hooks, and the name of the release."""
    if isinstance(thing, dict):
        kept = {
            key: plain(value)
            for key, value in thing.items()
            if key not in ("app.kubernetes.io/instance", "checksum/settings") and not key.startswith("helm.sh/")
        }
        return {key: value for key, value in kept.items() if (key, value) != ("annotations", {})}
    if isinstance(thing, list):
        return [plain(value) for value in thing]
    return re.sub(r"^(tacet-settings)-[a-z0-9]{10}$", r"\1", thing) if isinstance(thing, str) else thing


def differences(place, one, other):
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            differences(f"{place}.{key}", one.get(key), other.get(key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other)):
            differences(f"{place}[{number}]", left, right)
    elif one != other:
        problem(place, f"{one!r} by kustomize, {other!r} by Helm")


def check_same(one, other):
    renderings = [{name_of(thing): thing for thing in map(plain, load(path))} for path in (one, other)]
    differences(pathlib.Path(one).stem, *renderings)


def check_compose(version, path):
    services = json.loads(pathlib.Path(path).read_text())["services"]
    for name, service in services.items():
        place = f"compose.yaml: {name}"
        if not service.get("read_only") or service.get("cap_drop") != ["ALL"]:
            problem(place, "not read-only, or with capabilities")
        if service.get("security_opt") != ["no-new-privileges:true"] or service.get("privileged"):
            problem(place, "it may gain privileges")
        # secrets gives files to other users.
        if name != "secrets" and re.match(r"0*(:|$)", service.get("user", "0")):
            problem(place, "it runs as root")
        if service["image"].startswith("tacet:") and service["image"] != f"tacet:{version}":
            problem(place, f"the image is {service['image']}, and tacet --version {version}")
        if any(port.get("host_ip") != "127.0.0.1" for port in service.get("ports", [])):
            problem(place, "a port that other machines reach")
        for volume in service.get("volumes", []):
            # The simulator is built by whoever starts it.
            if volume["type"] == "bind" and name != "apns" and not pathlib.Path(volume["source"]).is_file():
                problem(place, f"there is no file {volume['source']}")
    grace = services["tacet"].get("stop_grace_period")
    if not grace or int(grace.rstrip("s")) <= 2 * int(services["tacet"]["environment"]["DRAIN_SECONDS"]):
        problem("compose.yaml: tacet", "stop_grace_period has to be more than twice DRAIN_SECONDS")
    if services["tacet"]["depends_on"]["migrate"]["condition"] != "service_completed_successfully":
        problem("compose.yaml: tacet", "it does not wait for the migrations")


def print_environment(path, service=None):
    if service:
        found = json.loads(pathlib.Path(path).read_text())["services"][service]["environment"]
    else:
        things = load(path)
        found = environment_of(things, serving_pod(things)["containers"][0])
    for key, value in sorted(found.items()):
        print(f"{key}={value}")


def main(command, *arguments):
    if command == "schemas":
        check_schemas(arguments[0], arguments[1:])
    elif command == "rules":
        for path in arguments[1:]:
            check_rules(arguments[0], path)
    else:
        {"same": check_same, "compose": check_compose, "environment": print_environment}[command](*arguments)
    for text in problems:
        print(f"  {text}", file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
