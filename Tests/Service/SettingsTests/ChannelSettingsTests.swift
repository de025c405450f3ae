import Channels
import Cryptography
import PushRules
import Testing

@testable import Settings

@Suite("The settings of browsers and Android")
struct ChannelSettingsTests {
  private static let key = P256PrivateKey().pem
  private static let browsers: [String: String?] = [
    "VAPID_PRIVATE_KEY": key, "VAPID_SUBJECT": "mailto:ops@example.com",
    "WEB_PUSH_URL": "https://chat.example.com/c/{conversation_id}",
  ]
  private static let account = """
    {"type": "service_account", "project_id": "demo", "client_email": "push@demo.iam.gserviceaccount.com",
    "private_key_id": "k1", "private_key": "\(RSAPrivateKey().pem.split(separator: "\n").joined(separator: "\\n"))\\n",
    "token_uri": "https://oauth2.googleapis.com/token"}
    """

  @Test("without a key and an account there are neither")
  func off() throws {
    let settings = try makeSettings()
    #expect(settings.channels.isEmpty)
  }

  @Test("a key brings browsers, in a setting or in a file, and a new one needs a restart")
  func keys() throws {
    let inline = try makeSettings(Self.browsers)
    #expect(inline.browsers?.hosts == .standard)
    #expect(inline.browsers?.links.origin == "https://chat.example.com")
    let changes = Self.browsers.merging(["VAPID_PRIVATE_KEY": nil, "VAPID_PRIVATE_KEY_FILE": "/vapid.pem"]) { $1 }
    let file = try makeSettings(changes, files: ["/vapid.pem": Self.key])
    #expect(file.browsers?.signer.publicKeyText == inline.browsers?.signer.publicKeyText)
    let other = Self.browsers.merging(["VAPID_PRIVATE_KEY": P256PrivateKey().pem]) { $1 }
    #expect(try makeSettings(other).keysNeedingRestart(since: inline) == ["VAPID_PRIVATE_KEY"])
  }

  @Test(
    "what a key needs is named",
    arguments: [
      ("VAPID_SUBJECT", String?.none), ("VAPID_SUBJECT", "ops@example.com"), ("VAPID_SUBJECT", "mailto:root@localhost"),
      ("WEB_PUSH_URL", nil), ("WEB_PUSH_URL", "http://chat.example.com/"), ("WEB_PUSH_URL", "https://a/{b"),
      ("WEB_PUSH_URL", "javascript:alert(1)"), ("VAPID_PRIVATE_KEY", "no key"), ("WEB_PUSH_HOSTS", "*"),
      ("WEB_PUSH_CA_FILE", "/none.pem"),
    ])
  func named(_ name: String, _ value: String?) {
    #expect(problems(Self.browsers.merging([name: value]) { $1 }).map(\.key) == [name])
  }

  @Test("a file without a key, and an account that is none, are named without their text")
  func files() {
    let changes = Self.browsers.merging(["VAPID_PRIVATE_KEY": nil, "VAPID_PRIVATE_KEY_FILE": "/a"]) { $1 }
    #expect(problems(changes, files: ["/a": "secret text"]).map(\.key) == ["VAPID_PRIVATE_KEY_FILE"])
    let account = problems(["FCM_SERVICE_ACCOUNT_FILE": "/a"], files: ["/a": #"{"private_key": "secret text"}"#])
    #expect(account.map(\.key) == ["FCM_SERVICE_ACCOUNT_FILE"])
    #expect(account.allSatisfy { !$0.message.contains("secret text") })
  }

  @Test("an account brings Android, in a setting or in a file")
  func accounts() throws {
    let settings = try makeSettings(["FCM_SERVICE_ACCOUNT": Self.account, "FCM_MESSAGES": "data"])
    #expect(
      settings.android?.tokens.account.projectIdentifier == "demo" && settings.android?.style.presentation == .dataOnly)
    let file = try makeSettings(["FCM_SERVICE_ACCOUNT_FILE": "/a"], files: ["/a": Self.account])
    #expect(
      file.android?.tokens.account.projectIdentifier == "demo" && file.android?.style.presentation == .notification)
    #expect(problems(["FCM_SERVICE_ACCOUNT": Self.account, "FCM_URL": "http://example.com"]).map(\.key) == ["FCM_URL"])
  }
}

extension ServeSettings {
  fileprivate var browsers: WebPushChannel? { channels.lazy.compactMap { $0 as? WebPushChannel }.first }

  fileprivate var android: FCMChannel? { channels.lazy.compactMap { $0 as? FCMChannel }.first }
}

@Suite("Settings of events for the host")
struct EventSettingsTests {
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  private func read(_ more: [String: String]) throws -> EventSettings? { try makeSettings(more).events }

  @Test("without a URL no events are sent; with one there are keys and three days")
  func defaults() throws {
    #expect(try read([:]) == nil)
    #expect(try read(["EVENTS_SECRET": Self.secret]) == nil)
    let events = try #require(
      try read([
        "EVENTS_URL": "https://app.example.com/hooks?token=1", "EVENTS_SECRET": "\(Self.secret) \(Self.secret)",
      ]))
    #expect(events.url.exposed == "https://app.example.com/hooks?token=1")
    #expect(events.signingKeys.map(\.exposed.count) == [24, 24] && events.givesUp == .seconds(259_200))
    #expect(events.certificates == nil)
  }

  @Test(
    "http is for this machine, and what is no address is refused",
    arguments: [
      ("https://host/", true), ("http://127.0.0.1:8080/events", true), ("http://[::1]/", true),
      ("http://localhost/", true), ("http://app.example.com/", false), ("http://127.0.0.1.example.com/", false),
      ("https://host/#a", false), ("https:///events", false), ("ftp://host/", false), ("host", false),
    ])
  func addresses(_ url: String, _ isTaken: Bool) {
    #expect(((try? read(["EVENTS_URL": url, "EVENTS_SECRET": Self.secret])) != nil) == isTaken, "\(url)")
  }

  @Test("a new URL needs a restart")
  func restart() throws {
    let start = try makeSettings(["EVENTS_SECRET": Self.secret])
    let now = try makeSettings(["EVENTS_SECRET": Self.secret, "EVENTS_URL": "https://host/"])
    #expect(now.keysNeedingRestart(since: start) == ["EVENTS_URL"])
  }

  @Test("a URL without a secret stops the start, and so does a time that cannot be meant")
  func missing() {
    for more in [
      ["EVENTS_URL": "https://host/"], ["EVENTS_URL": "https://host/", "EVENTS_SECRET": "short"],
      ["EVENTS_URL": "https://host/", "EVENTS_SECRET": Self.secret, "EVENTS_RETRY_HOURS": "0"],
      ["EVENTS_URL": "https://host/", "EVENTS_SECRET": Self.secret, "EVENTS_RETRY_HOURS": "721"],
    ] {
      #expect(throws: SettingsError.self) { try read(more) }
    }
  }
}
