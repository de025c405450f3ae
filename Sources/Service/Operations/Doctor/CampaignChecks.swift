internal import Campaigns
internal import HTTPTransfers
internal import Postgres
internal import PushStore
internal import Reactors
internal import Settings
internal import TemporalReferences

/// Whether campaigns can run: their definitions can be read, and their functions answer.
enum CampaignCheck {
  static let name = "campaigns"

  static let notUsed = CheckFinding(name, .skipped, "PUSH_TRIGGER_ENABLED is not true")

  /// - Parameter campaigns: those that are active, with the error of their functions.
  static func judge(_ campaigns: [(campaign: StoredCampaign, error: PostgresError?)]) -> [CheckFinding] {
    let faults = campaigns.compactMap { definitionFault($0.campaign) ?? functionFault($0.campaign, $0.error) }
    if !faults.isEmpty { return faults }
    guard !campaigns.isEmpty else {
      return [
        CheckFinding(
          name, .warning, "none is active", remedy: "set is_active in tacet.campaigns, or PUSH_TRIGGER_ENABLED=false")
      ]
    }
    return [CheckFinding(name, .ok, campaigns.map(\.campaign.name).joined(separator: ", "))]
  }

  private static func definitionFault(_ campaign: StoredCampaign) -> CheckFinding? {
    do throws(CampaignDefinitionDefect) {
      if SlotCampaignDefinition.hasSlots(json: campaign.definition) {
        _ = try SlotCampaignDefinition(json: campaign.definition)
      } else {
        _ = try CampaignDefinition(json: campaign.definition)
      }
      return nil
    } catch {
      return CheckFinding(
        name, .failure, "\(campaign.name): its definition cannot be used: \(error)",
        remedy: "correct its definition in tacet.campaigns; db/README.md has the form")
    }
  }

  private static func functionFault(_ campaign: StoredCampaign, _ error: PostgresError?) -> CheckFinding? {
    error.map {
      CheckFinding(
        name, .failure, "\(campaign.name): its functions fail: \($0.debugDescription)",
        remedy: "apply db/examples/coach.sql, or replace the functions that db/README.md names under Campaigns")
    }
  }
}

/// Whether what campaigns have to do is done.
enum CampaignWorkCheck {
  static let name = "campaign work"

  static func judge(_ work: ExaminedCampaignWork) -> [CheckFinding] {
    var findings: [CheckFinding] = []
    if work.unservedHours > 0 {
      findings.append(
        CheckFinding(
          name, .failure, "\(work.unservedHours) hours of zones came more than 10 min ago and are not served",
          remedy: "see whether tacet serve runs with PUSH_TRIGGER_ENABLED=true, and what its log says of campaigns"))
    }
    if work.undecided > 0 {
      findings.append(
        CheckFinding(
          name, .failure, "\(count(work.undecided)) users have been noted for more than 10 min and are not decided",
          remedy: "see whether tacet serve runs with PUSH_TRIGGER_ENABLED=true, and what its log says of campaigns"))
    }
    if work.failed > 0 {
      findings.append(
        CheckFinding(
          name, .warning, "\(count(work.failed)) decisions failed during the last day",
          remedy: "see their reasons in tacet.campaign_decisions"))
    }
    return findings.isEmpty ? [CheckFinding(name, .ok, "nothing is left over")] : findings
  }

  private static func count(_ number: Int) -> String {
    number >= ExaminedBacklog.rowsMax ? "at least \(number)" : "\(number)"
  }
}

/// Whether the day's ceiling on language models leaves anything.
enum ModelUsageCheck {
  static let name = "model usage"

  static func judge(_ usage: ExaminedModelUsage, _ settings: SettingValues<CampaignSettings>) -> CheckFinding {
    let words =
      "\(usage.tokens) of \(settings.dailyTokensMax) tokens and \(dollars(usage.microdollars)) of "
      + "\(dollars(settings.dailyMicrodollarsMax)) dollars today"
    guard usage.tokens >= settings.dailyTokensMax || usage.microdollars >= settings.dailyMicrodollarsMax else {
      return CheckFinding(name, .ok, words)
    }
    return CheckFinding(
      name, .warning, "the day's ceiling is reached: \(words)",
      remedy:
        "wait for the next day of UTC, or raise LANGUAGE_MODEL_DAILY_TOKENS_MAX or LANGUAGE_MODEL_DAILY_DOLLARS_MAX")
  }

  private static func dollars(_ microdollars: Int) -> String {
    let cents = String(microdollars / 10_000 % 100 + 100).dropFirst()
    return "\(microdollars / 1_000_000).\(cents)"
  }
}

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

/// Whether this machine has the time zones by which campaigns tell today from tomorrow.
enum TimeZoneCheck {
  static let name = "time zones"

  static let notUsed = CheckFinding(name, .skipped, "PUSH_TRIGGER_ENABLED is not true")

  /// A zone of every directory there is, with changes that an empty file would not have.
  private static let probe = "America/New_York"

  static func judge(_ directory: ZoneDirectory) -> CheckFinding {
    guard directory.rules(of: probe)?.nextChange(after: 0) != nil else {
      return CheckFinding(
        name, .failure, "this machine has no time zone data in \(directory.path)", remedy: "install the package tzdata")
    }
    return CheckFinding(name, .ok, directory.path)
  }
}
