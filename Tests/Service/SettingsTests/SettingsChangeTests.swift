import APNSCore
import Crypto
import Settings
import Testing

@Suite("Settings that are read again")
struct SettingsChangeTests {
  private static let otherKey = P256.Signing.PrivateKey().pemRepresentation
  private static let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
  private static let base: [String: String?] = [
    "TACET_CONFIG": "/f", "APNS_PRIVATE_KEY": nil, "APNS_PRIVATE_KEY_FILE": "/a.p8", "APNS_CA_FILE": "/ca.pem",
  ]

  /// What changes when the settings file of two apps becomes another, and files and variables with it.
  private func change(
    to file: String = "[app b]", files: [String: String] = [:], variables: [String: String?] = [:]
  ) throws -> SettingsChange {
    let before = ["/f": "[app b]", "/a.p8": signingKeyPEM, "/ca.pem": Self.certificate]
    let after = before.merging(["/f": file]) { $1 }.merging(files) { $1 }
    return SettingsChange(
      from: try makeSettings(Self.base, files: before).apns,
      to: try makeSettings(Self.base.merging(variables) { $1 }, files: after).apns)
  }

  @Test("the same again is no change, however it is written")
  func same() throws {
    #expect(try change().isEmpty)
    #expect(try change(to: "# ours\n[ app b ]\nAPNS_ENVIRONMENT=production\n").isEmpty)
    #expect(try change(files: ["/a.p8": signingKeyPEM + "\n"]).isEmpty)
  }

  @Test("apps come and go")
  func apps() throws {
    let change = try change(to: "[app c]\n[app a]")
    #expect(change.added.map(\.text) == ["c", "a"])
    #expect(change.removed.map(\.text) == ["b"])
    #expect(change.changed == [] && change.defaultApp == nil && !change.reachesOtherwise)
    #expect(change.renewed.map(\.text).sorted() == ["a", "c"])
    #expect(!change.isEmpty)
  }

  @Test("an app with another environment has changed, and no other has")
  func environment() throws {
    let change = try change(to: "[app b]\nAPNS_ENVIRONMENT=sandbox")
    #expect(change.changed.map(\.text) == ["b"])
    #expect(change.renewed.map(\.text) == ["b"])
    #expect(change.added == [] && change.removed == [])
  }

  @Test("another key in the same file is a change of all who sign with it")
  func keyFile() throws {
    #expect(try change(files: ["/a.p8": Self.otherKey]).changed.map(\.text) == ["com.example.app", "b"])
  }

  @Test("another default is a change of no app, and renews the old one and the new: they have other tokens now")
  func defaultApp() throws {
    let change = try change(to: "[app b]\n[app com.example.app]\n[app c]", variables: ["APNS_BUNDLE_ID": "b"])
    #expect(change.defaultApp?.text == "b")
    #expect(change.changed == [] && change.added.map(\.text) == ["c"] && !change.isEmpty)
    #expect(change.renewed.map(\.text).sorted() == ["b", "c", "com.example.app"])
  }

  @Test("an old default that is gone has nothing to renew")
  func defaultGone() throws {
    let change = try change(variables: ["APNS_BUNDLE_ID": "b"])
    #expect(change.removed.map(\.text) == ["com.example.app"])
    #expect(change.renewed.map(\.text) == ["b"])
  }

  @Test(
    "other servers or authorities renew every route",
    arguments: [
      ["APNS_URL": "https://127.0.0.1:1"], ["APNS_SANDBOX_URL": "https://127.0.0.1:1"], ["APNS_CA_FILE": nil],
      ["APNS_CA_FILE": "/other.pem"],
    ] as [[String: String?]])
  func reach(variables: [String: String?]) throws {
    let other = Self.certificate.replacingOccurrences("AAAA", "BBBB")
    let change = try change(files: ["/other.pem": other], variables: variables)
    #expect(change.reachesOtherwise && !change.isEmpty)
    #expect(change.renewed.map(\.text).sorted() == ["b", "com.example.app"])
  }

  @Test("other authorities in the same file count as well; the same ones in another file do not")
  func authorities() throws {
    let other = Self.certificate.replacingOccurrences("AAAA", "BBBB")
    #expect(try change(files: ["/ca.pem": other]).reachesOtherwise)
    #expect(try change(files: ["/g.pem": Self.certificate], variables: ["APNS_CA_FILE": "/g.pem"]).isEmpty)
  }

  /// Another usable value for each key that is fixed at the start.
  private static let fixed: [SettingKey: String] = [
    .databaseURL: "postgresql://other", .databasePoolMode: "transaction", .listenAddress: "127.0.0.1:1",
    .metricsAddress: "127.0.0.1:2", .webhookSecret: String(repeating: "o", count: 24), .webhookWaitMilliseconds: "1",
    .serviceKey: String(repeating: "o", count: 24),
    .jwtSecret: String(repeating: "o", count: 32), .jwksURL: "https://other", .jwksCAFile: "/own.pem",
    .jwtAudience: "other", .jwtIssuer: "https://other", .suppressionWindowSeconds: "1", .messageTTLSeconds: "1",
    .retentionDays: "400", .devicesPerUserMax: "1", .badgeMax: "1", .pushTriggerEnabled: "true",
    .readSyncEnabled: "false",
    .reactors: "1", .drainSeconds: "1", .pushTriggerTime: "09:30", .languageModelProvider: "openai",
    .languageModelURL: "https://other", .languageModelKey: "other", .languageModelName: "other",
    .languageModelCAFile: "/own.pem", .languageModelMilliseconds: "100", .languageModelInputDollars: "2",
    .languageModelOutputDollars: "2", .languageModelDailyTokensMax: "1", .languageModelDailyDollarsMax: "1",
    .logLevel: "error", .logFormat: "json",
    .listenSocketMode: "0600", .trustedProxies: "::1", .trustedProxyHeader: "forwarded", .httpConnectionsMax: "1",
    .httpPeerConnectionsMax: "1", .httpConnectionRequestsMax: "1", .httpRequestLineBytesMax: "1000",
    .httpHeaderCountMax: "10", .httpHeaderBytesMax: "1000", .httpBodyBytesMax: "2000", .httpBodyBytesPerSecondMin: "1",
    .httpHeaderSeconds: "1", .httpBodySeconds: "1", .httpIdleSeconds: "1", .httpWriteSeconds: "1",
  ]

  /// Followed at run time; ``HTTPSettingsTests`` looks at them, since they come together.
  private static let certificates: Set<SettingKey> = [.tlsCertificateFile, .tlsKeyFile]

  @Test("every key is either followed at run time or named as needing a restart", arguments: SettingKey.allCases)
  func restart(key: SettingKey) throws {
    let start = try makeSettings(["LANGUAGE_MODEL_KEY": "key"])
    #expect(try makeSettings(["LANGUAGE_MODEL_KEY": "key"]).keysNeedingRestart(since: start) == [])
    guard let value = Self.fixed[key] else {
      #expect(key.rawValue.hasPrefix("APNS_") || key == .configFile || Self.certificates.contains(key))
      return
    }
    let changes = ["LANGUAGE_MODEL_KEY": "key"].merging([key.rawValue: value]) { $1 }
    let now = try makeSettings(changes, files: ["/own.pem": Self.certificate])
    #expect(now.keysNeedingRestart(since: start) == [key])
    #expect(SettingsChange(from: start.apns, to: now.apns).isEmpty)
  }
}

extension String {
  /// With one text in the place of another.
  fileprivate func replacingOccurrences(_ old: String, _ new: String) -> String {
    split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
  }
}
