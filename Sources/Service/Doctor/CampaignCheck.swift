internal import CampaignRules
internal import Postgres
internal import PushStore
internal import Settings

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
      _ = try CampaignDefinition(json: campaign.definition)
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
