# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the script that sources this
# Breaks copies of the manifests. Sourced by deploy/check-manifests.

# Each line: the check that has to find it, a file, and what sed does to a copy of it.
breaks() {
  cat <<'BREAKS'
lint        helm/tacet/values.yaml             s/^replicas: 2/replicas: -2/
lint        helm/tacet/templates/deployment.yaml  s/nindent 10/nindent 9/
kustomize   kubernetes/base/kustomization.yaml s/policies.yaml/policy.yaml/
helm        helm/values-small.yaml             s/REACTORS/reactors/
same        helm/tacet/values.yaml             s/DRAIN_SECONDS: 15/DRAIN_SECONDS: 14/
same        kubernetes/overlays/small/kustomization.yaml  s/count: 1/count: 2/
rules       kubernetes/base/deployment.yaml    s/readOnlyRootFilesystem: true/readOnlyRootFilesystem: false/
rules       kubernetes/base/deployment.yaml    s/enableServiceLinks: false/enableServiceLinks: true/
rules       kubernetes/base/deployment.yaml    s/terminationGracePeriodSeconds: 40/terminationGracePeriodSeconds: 35/
rules       kubernetes/base/deployment.yaml    s/serviceAccountName: tacet/serviceAccountName: push/
rules       kubernetes/base/service.yaml       s/targetPort: http/targetPort: web/
rules       kubernetes/base/service.yaml       s/component: serve/component: server/
rules       kubernetes/base/policies.yaml      s/{port: 2197}, //
rules       kubernetes/base/settings.env       s/:9090/:9091/
rules       kubernetes/overlays/production/kustomization.yaml  /op: remove/d
rules       helm/tacet/templates/_helpers.tpl  s/runAsNonRoot: true/runAsNonRoot: false/
rules       helm/tacet/Chart.yaml              s/^appVersion: .*/appVersion: 9.9.9/
schemas     kubernetes/base/deployment.yaml    s/periodSeconds: 10/periodSecond: 10/
schemas     kubernetes/migrate/job.yaml        s/backoffLimit: 2/backoffLimit: two/
schemas     helm/tacet/templates/migrate.yaml  s/activeDeadlineSeconds: 900/activeDeadlineSeconds: soon/
compose     compose.yaml                       s/service_completed_successfully/service_completed/
hardening   compose.yaml                       s/read_only: true/read_only: false/
hardening   compose.yaml                       s/monitoring.prometheus.yml/monitoring\/none.yml/
prometheus  monitoring/prometheus.yml          s/scrape_interval: 5s/scrape_interval: 5/
prometheus  monitoring/prometheus-kubernetes.yml  s/action: keep/action: kept/
adapter     monitoring/prometheus-adapter.yaml s/as: tacet_inbox_events_fresh/as: tacet_inbox_events/
adapter     monitoring/prometheus-adapter.yaml s/max(/max((/
grafana     grafana-dashboard.json             s/"title": "Tacet",/"title": "Tacet"/
BREAKS
}

prove() {
  local check file change found=0 missed=0 version
  version=$(chart_version)
  while read -r check file change; do
    rm -rf "$scratch/deploy"
    mkdir "$scratch/deploy"
    deploy=$scratch/deploy
    cp -r "$checkout"/deploy/{kubernetes,helm,monitoring,compose.yaml,prometheus-alerts.yml,grafana-dashboard.json} "$deploy/"
    sed -i "$change" "$deploy/$file"
    if cmp -s "$deploy/$file" "$checkout/deploy/$file"; then die "$file: $change changes nothing"; fi
    if check_renderings "$version" >"$scratch/prove.log" || ! grep -q "^FAILS $check:" "$scratch/prove.log"; then
      say "MISSED by $check: $file: $change"
      ((++missed))
    else
      say "found by $check: $file: $change"
      ((++found))
    fi
  done < <(breaks)
  say "$found found, $missed missed"
  ((missed == 0))
}
