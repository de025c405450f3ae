{{- define "tacet.labels" -}}
app.kubernetes.io/name: tacet
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "tacet.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* What both pods have in common. */ -}}
{{- define "tacet.pod" -}}
automountServiceAccountToken: false
# A Service called tacet gives pods variables such as TACET_PORT, which tacet refuses as misspelled settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "tacet.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: secrets, mountPath: /etc/tacet, readOnly: true}
{{- end }}

{{- define "tacet.spread" -}}
maxSkew: 1
labelSelector:
  matchLabels: {{- include "tacet.labels" (dict "root" . "component" "serve") | nindent 4 }}
matchLabelKeys: [pod-template-hash]
{{- end }}

{{- define "tacet.egress" -}}
# DNS.
- ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]
# The database.
- ports: [{port: {{ . }}}]
{{- end }}
