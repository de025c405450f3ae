internal import FoundationEssentials

/// The language model that writes pushes.
public struct LanguageModelSettings: Equatable, Sendable {
  /// Whose interface it has.
  public enum Provider: String, CaseIterable, Sendable {
    /// Anthropic's Messages.
    case anthropic
    /// OpenAI's chat completions, which many others have as well.
    case openai
  }

  /// `LANGUAGE_MODEL_PROVIDER`; `anthropic` unless set.
  public let provider: Provider
  /// `LANGUAGE_MODEL_URL`, over `https` or `http`, without the path of the call; nil for the provider's own. Secret, as it
  /// may hold a password.
  public let url: Secret<String>?
  /// `LANGUAGE_MODEL_KEY`.
  public let key: Secret<String>
  /// `LANGUAGE_MODEL_NAME`; nil for the client's own choice, which only Anthropic has.
  public let name: String?
  /// The authorities trusted instead of the system's, as PEM text; nil for the system's.
  public let certificates: String?
  /// `LANGUAGE_MODEL_MILLISECONDS` from 100 ms to a minute; 2 s unless set. A retry that the provider asks for has as much
  /// again.
  public let limit: Duration
  /// What a token costs that it reads, in millionths of a dollar, which is a million tokens in dollars; 1 unless set.
  public let inputPrice: Double
  /// The same of a token that it writes; 5 unless set.
  public let outputPrice: Double

  /// Nil without a key: then nothing is written by a model, and the other settings wait for it.
  init?(_ reader: inout SettingsReader) {
    provider =
      reader.optional(.languageModelProvider) { text throws(UnusableValue) in
        try SettingNumbers.choice(text)
      } ?? .anthropic
    url = reader.optional(.languageModelURL, Self.url).map(Secret.init)
    name = reader.text(.languageModelName)
    certificates = reader.certificates(.languageModelCAFile)
    let milliseconds = reader.optional(.languageModelMilliseconds) { text throws(UnusableValue) in
      try SettingNumbers.integer(text, in: 100...60_000)
    }
    limit = .milliseconds(milliseconds ?? 2_000)
    inputPrice = reader.optional(.languageModelInputDollars, Self.price) ?? 1
    outputPrice = reader.optional(.languageModelOutputDollars, Self.price) ?? 5
    guard let key = reader.optional(.languageModelKey, Self.key) else { return nil }
    self.key = Secret(key)
  }

  /// It becomes a header field.
  private static func key(_ text: String) throws(UnusableValue) -> String {
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw UnusableValue("not visible ASCII characters", expected: "the provider's key")
    }
    return text
  }

  private static func url(_ text: String) throws(UnusableValue) -> String {
    let parts = URLComponents(string: text, encodingInvalidCharacters: false)
    guard let parts, let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme),
      parts.host?.isEmpty == false, parts.query == nil, parts.fragment == nil
    else {
      throw UnusableValue("not a web address", expected: "https://host/path, without the path of the call")
    }
    return text
  }

  private static func price(_ text: String) throws(UnusableValue) -> Double {
    Double(try SettingNumbers.microdollars(text, dollarsMax: 10_000)) / 1_000_000
  }
}
