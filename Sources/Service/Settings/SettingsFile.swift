internal import Channels
internal import HTTP1
internal import PushRules

/// The text of a settings file, taken apart.
///
/// One `KEY=value` a line; blank lines and lines that begin with `#` say nothing. White space around key and value is
/// dropped; a value in single or double quotes is the text between them. A `#` inside a value belongs to it. Nothing
/// is expanded, and no value spans lines.
///
/// `[app com.example.app]` begins the settings of one app; they end with the next such line or the file.
struct SettingsFile {
  /// Where the settings of a line go.
  private enum Place {
    case top
    case app(Int)
    /// Behind a line that failed to be a section: ignored.
    case nowhere
  }

  /// The settings above the first section.
  private(set) var values: [String: String] = [:]
  /// In the order of the file, each app once.
  private(set) var apps: [AppSection] = []
  private(set) var problems: [SettingsProblem] = []
  private var place = Place.top

  init(text: String) {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      read(line: line.trimmed, number: index + 1)
    }
  }

  private mutating func read(line: Substring, number: Int) {
    if line.isEmpty || line.hasPrefix("#") { return }
    if line.hasPrefix("[") { return beginSection(line, number: number) }
    let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    // A line that is no setting may be part of a pasted key: its text is not repeated.
    guard parts.count == 2, let key = Self.key(parts[0].trimmed), let value = Self.value(parts[1].trimmed) else {
      let message = "names a file whose line \(number) is no setting; expected KEY=value, quotes closed, or a # comment"
      problems.append(SettingsProblem(.malformed, SettingNames.configFile.text, message))
      return
    }
    store(value, under: key, number: number)
  }

  private mutating func beginSection(_ line: Substring, number: Int) {
    place = .nowhere
    do {
      let section = try AppSection(header: line)
      if apps.contains(where: { $0.bundleIdentifier == section.bundleIdentifier }) {
        let message = "(settings file, line \(number)) is there a second time; keep one"
        return problems.append(SettingsProblem(.conflicting, section.header, message))
      }
      apps.append(section)
      place = .app(apps.count - 1)
    } catch {
      let message = "names a file whose line \(number) is \(error.fault); expected \(error.expectation)"
      problems.append(SettingsProblem(.malformed, SettingNames.configFile.text, message))
    }
  }

  private mutating func store(_ value: String, under name: String, number: Int) {
    switch place {
    case .top: store(value, under: name, number: number, in: \.values, known: SettingNames.texts)
    case .app(let index):
      store(value, under: name, number: number, in: \.apps[index].values, known: SettingNames.ofApps)
    case .nowhere: break
    }
  }

  private mutating func store(
    _ value: String, under name: String, number: Int, in values: WritableKeyPath<Self, [String: String]>,
    known: [String]
  ) {
    let line = "settings file, line \(number)"
    guard SettingNames.texts.contains(name) else {
      return problems.append(.unknown(name, at: line, among: known))
    }
    let isRepeated = self[keyPath: values][name] != nil
    if let fault = Self.misplacement(of: name, known: known) ?? (isRepeated ? "is set a second time; keep one" : nil) {
      return problems.append(SettingsProblem(.conflicting, name, "(\(line)) \(fault)"))
    }
    self[keyPath: values][name] = value
  }

  /// Why a known key is in the wrong place.
  private static func misplacement(of name: String, known: [String]) -> String? {
    switch name {
    case SettingNames.configFile.text: "cannot be set in the file; it belongs into the environment"
    case _ where known.contains(name): nil
    case AppFields.bundleID.text: "is what the section's name says; leave it out"
    default: "is no setting of an app; it belongs above the first section"
    }
  }

  /// A name made of letters, digits and underscores, short enough to be typed.
  private static func key(_ text: Substring) -> String? {
    (1...64).contains(text.utf8.count) && text.hasASCIILettersAndDigits(or: "_") ? String(text) : nil
  }

  /// A value without its quotes; nil when a quote is not closed or something follows it.
  private static func value(_ text: Substring) -> String? {
    guard let quote = text.first, quote == "\"" || quote == "'" else { return String(text) }
    let inner = text.dropFirst()
    guard inner.last == quote, !inner.dropLast().contains(quote) else { return nil }
    return String(inner.dropLast())
  }
}

enum SettingNames {
  /// The settings file; in the environment only.
  static let configFile: SettingName = "TACET_CONFIG"

  static let all: [SettingName] = [
    DatabaseSettings.names, ProcessSettings.names, HTTPServiceConfiguration.names, TLSSettings.names,
    WebhookSettings.names,
    CallerSettings.names, AppFields.names, [AppFields.bundleID], APNSServers.names,
    KnownChannels.all.flatMap { $0.settingNames }, EventValues.names, PolicySettings.names, CampaignSettings.names,
    LogSettings.names, [configFile],
  ].flatMap(\.self)

  static let texts = all.map(\.text)

  /// Those that an app can have for itself.
  static let ofApps = AppFields.names.map(\.text)

  /// Beginnings of names that nothing but this service would use, so an unknown name with one of them is a typing
  /// error. Names like `LOG_…`, `DATABASE_…` and `HTTP_…` (`HTTP_PROXY`) are also those of other programs.
  static let ownPrefixes =
    [
      "APNS_", "BADGE_", "CONTENT_AUTH", "CONTENT_PRIVATE_", "CORS_", "DEVICES_PER_", "DRAIN_", "EVENTS_",
      "FOLD_",
      "HTTP_BODY_", "HTTP_CONNECTION", "HTTP_HEADER_", "HTTP_IDLE_", "HTTP_PEER_", "HTTP_REQUEST_", "HTTP_WRITE_",
      "JWKS_",
      "JWT_AUD", "JWT_ISS", "LANGUAGE_MODEL_", "LISTEN_ADDR", "LISTEN_SOCKET_", "MESSAGE_TTL", "METRICS_ADDR",
      "PUSH_TRIGGER_", "READ_SYNC_", "RETENTION_", "SHADOW", "SLOT_PUSHES_", "SUPPRESSION_", "TACET_", "TLS_CERT",
      "TLS_KEY", "TRUSTED_PROX", "WEBHOOK_",
    ] + KnownChannels.all.flatMap { $0.settingPrefixes }

  /// The known name that a mistyped one is most like: few letters differ, and more of the beginning is the same, since people
  /// leave endings off, or nearly all of the end.
  static func nearest(to name: String, among known: [String] = texts) -> String {
    func unlikeness(_ other: String) -> Int {
      let beginning = zip(name.utf8, other.utf8).prefix { $0 == $1 }.count
      let end = zip(name.utf8.reversed(), other.utf8.reversed()).prefix { $0 == $1 }.count
      return distance(from: name, to: other) - max(beginning, 2 * end > name.utf8.count ? end : 0)
    }
    return known.map { (name: $0, unlikeness: unlikeness($0)) }.min { $0.unlikeness < $1.unlikeness }?.name
      ?? configFile.text
  }

  /// Whether a text is the word with a letter too many, too few, wrong or in the wrong place, in any case.
  static func isNearly(_ text: String, _ word: String) -> Bool {
    let text = text.lowercased()
    return distance(from: text, to: word) < 2 || text.sorted() == word.sorted()
  }

  /// Insertions, deletions and replacements that turn one name into the other (Levenshtein's distance).
  private static func distance(from one: String, to other: String) -> Int {
    let other = Array(other.utf8)
    var previous = Array(0...other.count)
    for (row, byte) in one.utf8.enumerated() {
      var current = [row + 1]
      for (column, otherByte) in other.enumerated() {
        let replaced = previous[column] + (byte == otherByte ? 0 : 1)
        current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
      }
      previous = current
    }
    return previous[other.count]
  }
}
