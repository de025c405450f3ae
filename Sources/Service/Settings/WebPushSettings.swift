package import Channels
internal import Cryptography

struct WebPushTable: Sendable {
  /// One of these two switches it on.
  let privateKey = Setting("VAPID_PRIVATE_KEY", .vapidKey, .secret)
  let privateKeyFile = Setting("VAPID_PRIVATE_KEY_FILE", .text, .secret)
  /// Whom push services may ask about the sender.
  let subject = Setting("VAPID_SUBJECT", .vapidSubject)
  /// Where a click leads.
  let links = Setting("WEB_PUSH_URL", .webPushLinks)
  /// The push services that browsers may name.
  let hosts = Setting("WEB_PUSH_HOSTS", default: WebPushHosts.standard, .webPushHosts)
  /// The authorities trusted instead of the system's there.
  let certificates = Setting(certificates: "WEB_PUSH_CA_FILE")
}

package struct WebPushSettings: Equatable, Sendable {
  /// The P-256 key as PEM text, checked to be one.
  package let privateKey: Secret<String>
  package let subject: VAPIDSubject
  package let links: WebPushLinks
  let values: SettingValues<WebPushTable>

  package var hosts: WebPushHosts { values.hosts }
  /// The authorities trusted instead of the system's there, as PEM text; nil for the system's.
  package var certificates: String? { values.certificates }

  /// Nil without a key, and when a problem was recorded.
  init?(_ values: SettingValues<WebPushTable>, _ reader: inout SettingsReader) {
    let table = WebPushTable()
    self.values = values
    var key = values.privateKey
    if key == nil, let text = reader.file(table.privateKeyFile.name) {
      key = try? SettingParser<String>.vapidKey(text)
      if key == nil { reader.record(.unusable, table.privateKeyFile.name, "names a file without a P-256 private key") }
    }
    guard let key else { return nil }
    for name in [table.subject.name, table.links.name] where reader.text(name) == nil { reader.recordMissing(name) }
    guard let subject = values.subject, let links = values.links else { return nil }
    privateKey = Secret(key)
    self.subject = subject
    self.links = links
  }
}

extension SettingParser<String> {
  /// In a setting of one line, `\n` stands for the end of a line. The value is the key in one form, however it was written.
  static var vapidKey: Self {
    Self { text throws(UnusableValue) in
      let pem = text.split(separator: #"\n"#, omittingEmptySubsequences: false).joined(separator: "\n")
      guard let key = try? P256PrivateKey(pem: pem) else {
        throw UnusableValue("not a P-256 private key", expected: "PEM text, such as that of tacet vapid-key")
      }
      return key.pem
    }
  }
}

extension SettingParser<VAPIDSubject> {
  static var vapidSubject: Self {
    Self { text throws(UnusableValue) in
      do throws(WebPushError) {
        return try VAPIDSubject(text)
      } catch {
        throw UnusableValue(error.message, expected: "mailto:ops@example.com, or an https: URL")
      }
    }
  }
}

extension SettingParser<WebPushLinks> {
  static var webPushLinks: Self {
    Self { text throws(UnusableValue) in
      do throws(WebPushError) {
        return try WebPushLinks(template: text)
      } catch {
        throw UnusableValue(error.message, expected: "such as https://chat.example.com/c/{conversation_id}")
      }
    }
  }
}

extension SettingParser<WebPushHosts> {
  static var webPushHosts: Self {
    Self { text throws(UnusableValue) in
      do throws(WebPushError) {
        return try WebPushHosts(parsing: text)
      } catch {
        throw UnusableValue(error.message, expected: "names, *.names or addresses, separated by commas")
      }
    }
  }
}
