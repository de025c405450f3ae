internal import PushRules

extension ServeSettings {
  /// The settings that took effect at the start and say something else now: it needs a restart to follow them.
  ///
  /// Whatever concerns APNs is not among them, because it can be changed while the service runs, nor is another certificate.
  public func keysNeedingRestart(since start: ServeSettings) -> [SettingKey] {
    var keys: [SettingKey] = []
    func compare(_ key: SettingKey, _ value: KeyPath<ServeSettings, some Equatable>) {
      if self[keyPath: value] != start[keyPath: value] { keys.append(key) }
    }
    compare(.databaseURL, \.database.connectionString)
    compare(.databasePoolMode, \.database.poolMode)
    compare(.listenAddress, \.listenAddress)
    compare(.metricsAddress, \.metricsAddress)
    compare(.listenSocketMode, \.http.socketMode)
    compare(.tlsCertificateFile, \.isSecure)
    compare(.trustedProxies, \.http.proxies.trusted)
    compare(.trustedProxyHeader, \.http.proxies.header)
    compare(.httpConnectionsMax, \.http.connectionsMax)
    compare(.httpPeerConnectionsMax, \.http.peerConnectionsMax)
    compare(.httpConnectionRequestsMax, \.http.connectionRequestsMax)
    compare(.httpRequestLineBytesMax, \.http.requestLineBytesMax)
    compare(.httpHeaderCountMax, \.http.headerCountMax)
    compare(.httpHeaderBytesMax, \.http.headerBytesMax)
    compare(.httpBodyBytesMax, \.http.bodyBytesMax)
    compare(.httpBodyBytesPerSecondMin, \.http.bodyBytesPerSecondMin)
    compare(.httpHeaderSeconds, \.http.headerTime)
    compare(.httpBodySeconds, \.http.bodyTime)
    compare(.httpIdleSeconds, \.http.idleTime)
    compare(.httpWriteSeconds, \.http.writeTime)
    compare(.webhookSecret, \.webhooks.secrets)
    compare(.webhookWaitMilliseconds, \.webhooks.wait)
    compare(.serviceKey, \.callers.serviceKeys)
    compare(.jwtSecret, \.callers.jwtSecret)
    compare(.jwksURL, \.callers.keySetURL)
    compare(.devicesPerUserMax, \.devicesPerUserMax)
    compare(.badgeMax, \.badgeMax)
    compare(.jwksCAFile, \.callers.keySetCertificates)
    compare(.jwtAudience, \.callers.audiences)
    compare(.jwtIssuer, \.callers.issuer)
    compare(.suppressionWindowSeconds, \.suppression.window)
    compare(.messageTTLSeconds, \.suppression.timeToLive)
    compare(.retentionDays, \.retention)
    compare(.readSyncEnabled, \.isReadSyncEnabled)
    compare(.pushTriggerEnabled, \.campaigns.isEnabled)
    compare(.pushTriggerTime, \.campaigns.minutes)
    compare(.languageModelProvider, \.campaigns.model?.provider)
    compare(.languageModelURL, \.campaigns.model?.url)
    compare(.languageModelKey, \.campaigns.model?.key)
    compare(.languageModelName, \.campaigns.model?.name)
    compare(.languageModelCAFile, \.campaigns.model?.certificates)
    compare(.languageModelMilliseconds, \.campaigns.model?.limit)
    compare(.languageModelInputDollars, \.campaigns.model?.inputPrice)
    compare(.languageModelOutputDollars, \.campaigns.model?.outputPrice)
    compare(.languageModelDailyTokensMax, \.campaigns.dailyTokensMax)
    compare(.languageModelDailyDollarsMax, \.campaigns.dailyMicrodollarsMax)
    compare(.reactors, \.reactors)
    compare(.drainSeconds, \.drainLimit)
    compare(.logLevel, \.log.level)
    compare(.logFormat, \.log.format)
    return keys
  }

  private var isSecure: Bool { tls != nil }
}
