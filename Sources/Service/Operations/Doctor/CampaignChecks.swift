internal import Campaigns
internal import Postgres
internal import PushStore
internal import Settings

// Whether campaigns can run, and do.
extension Judgement {
  static let campaignsOff = skipped("PUSH_TRIGGER_ENABLED is not true")

  /// Whether their definitions can be read, and their functions answer.
  /// - Parameter campaigns: those that are active, with the error of their functions.
  static func campaigns(_ campaigns: [(campaign: StoredCampaign, error: PostgresError?)]) -> [Judgement] {
    guard !campaigns.isEmpty else {
      return [
        .warning("none is active", remedy: "set is_active in tacet.campaigns, or PUSH_TRIGGER_ENABLED=false")
      ]
    }
    return campaigns.compactMap { campaign, error in
      definitionFault(campaign)
        ?? error.map {
          .failure(
            "\(campaign.name): its functions fail: \($0.debugDescription)",
            remedy: "apply db/examples/coach.sql, or replace the functions that db/README.md names under Campaigns")
        }
    }.or(campaigns.map(\.campaign.name).joined(separator: ", "))
  }

  private static func definitionFault(_ campaign: StoredCampaign) -> Judgement? {
    do {
      _ = try CampaignDefinition(json: campaign.definition)
      return nil
    } catch {
      return .failure(
        "\(campaign.name): its definition cannot be used: \(error)",
        remedy: "correct its definition in tacet.campaigns; db/README.md has the form")
    }
  }

  /// Whether what campaigns have to do is done.
  static func campaignWork(_ work: ExaminedCampaignWork) -> [Judgement] {
    let seeService = "see whether tacet serve runs with PUSH_TRIGGER_ENABLED=true, and what its log says of campaigns"
    func count(_ number: Int) -> String {
      number >= ExaminedBacklog.rowsMax ? "at least \(number)" : "\(number)"
    }
    var found: [Judgement] = []
    if work.unservedHours > 0 {
      found.append(
        .failure(
          "\(work.unservedHours) hours of zones came more than 10 min ago and are not served", remedy: seeService))
    }
    if work.undecided > 0 {
      found.append(
        .failure(
          "\(count(work.undecided)) users have been noted for more than 10 min and are not decided", remedy: seeService)
      )
    }
    if work.failed > 0 {
      found.append(
        .warning(
          "\(count(work.failed)) decisions failed during the last day",
          remedy: "see their reasons in tacet.occasions"))
    }
    return found.or("nothing is left over")
  }

  /// Whether the day's ceiling on language models leaves anything.
  static func modelUsage(_ usage: ExaminedModelUsage, _ settings: CampaignSettings) -> Judgement {
    func dollars(_ microdollars: Int) -> String {
      "\(microdollars / 1_000_000).\(String(microdollars / 10_000 % 100 + 100).dropFirst())"
    }
    let words =
      "\(usage.tokens) of \(settings.dailyTokensMax) tokens and \(dollars(usage.microdollars)) of "
      + "\(dollars(settings.dailyMicrodollarsMax)) dollars today"
    guard usage.tokens >= settings.dailyTokensMax || usage.microdollars >= settings.dailyMicrodollarsMax else {
      return .ok(words)
    }
    return .warning(
      "the day's ceiling is reached: \(words)",
      remedy:
        "wait for the next day of UTC, or raise LANGUAGE_MODEL_DAILY_TOKENS_MAX or LANGUAGE_MODEL_DAILY_DOLLARS_MAX")
  }
}
