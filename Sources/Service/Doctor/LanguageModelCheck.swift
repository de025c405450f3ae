internal import HTTPTransfers
internal import LanguageModels
internal import Reactors
internal import Settings

/// Whether the language model that writes for campaigns can be reached and takes the key. Costs no tokens.
enum LanguageModelCheck {
  static let name = "language model"

  static let notUsed = CheckFinding(name, .skipped, "PUSH_TRIGGER_ENABLED is not true")
  static let notConfigured = CheckFinding(
    name, .warning, "LANGUAGE_MODEL_KEY is not set: only templates are sent",
    remedy: "set LANGUAGE_MODEL_KEY, unless that is meant")

  /// As long as a connection anywhere takes.
  private static let limit = Duration.seconds(5)

  /// Asks for the list of models.
  static func look(
    _ settings: SettingValues<CampaignSettings>, key: Secret<String>, on reactor: isolated Reactor
  ) async -> CheckFinding {
    let provider: LanguageModelProvider = settings.modelProvider == .anthropic ? .anthropicMessages : .openAICompatible
    var configuration = LanguageModelConfiguration(
      provider, baseURL: settings.modelURL?.exposed, key: LanguageModelKey(key.exposed))
    configuration.deadline = limit
    if let certificates = settings.modelCertificates { configuration.trust = .only(certificates) }
    do throws(LanguageModelError) {
      return judge(status: try await configuration.statusOfModels(on: reactor))
    } catch {
      return judge(error)
    }
  }

  static func judge(_ error: LanguageModelError) -> CheckFinding {
    CheckFinding(
      name, .failure, error.debugDescription,
      remedy:
        "see whether LANGUAGE_MODEL_URL and LANGUAGE_MODEL_CA_FILE are right and the host can be reached from here")
  }

  /// Compatible servers need not have a list; that they answer at all is what is asked of them.
  static func judge(status: Int) -> CheckFinding {
    switch status {
    case 401, 403:
      CheckFinding(name, .failure, "the key is refused (\(status))", remedy: "correct LANGUAGE_MODEL_KEY")
    case 200..<300: CheckFinding(name, .ok, "it answers, and takes the key")
    case 429, 500...:
      CheckFinding(
        name, .warning, "it answers with status \(status)", remedy: "see whether its provider reports an outage")
    default: CheckFinding(name, .ok, "it answers, and has no list of models (\(status))")
    }
  }
}
