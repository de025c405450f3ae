internal import Campaigns
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Logging
internal import Operations
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

/// `POST /v1/push-trigger`: a campaign runs now; and how far a run has come.
enum PushTriggerRoute {
  /// The campaign that runs when the request names no other.
  private static let standardCampaign = "coach"
  /// Between two polls of a run that a caller waits for: other processes decide a part of it, and only the database shows that.
  private static let lookInterval = Duration.milliseconds(100)

  static func add(to group: inout RouteGroup, wait: Duration) {
    let logger = group.logger
    group.addForServices(.post, "/v1/push-trigger") { request, services, reactor in
      do {
        return try await answer(request, wait, services, logger, on: reactor)
      } catch let error as PostgresError where error.isRefusal {
        // What the host's functions cannot do is no fault of the service, and repeating the request mends nothing.
        logger.error("a campaign's audience cannot be read", metadata: ["error": "\(error)"])
        let state = error.sqlState.map { " (SQLSTATE \($0))" } ?? ""
        throw ProblemDetails(
          .conflict,
          detail: "A function of the campaign fails in the database\(state); the service's log has the error.")
      }
    }
    group.addForServices(.get, "/v1/push-trigger/{run_id}") { request, services, reactor in
      let id = try request.uuid("run_id")
      guard let status = try await services.callers.campaignRun(id, on: reactor) else {
        throw ProblemDetails(.notFound, detail: "There is no such run, or it is no longer kept.")
      }
      return HTTPServerResponse(json(of: status, id))
    }
  }

  private static func answer(
    _ request: HTTPServerRequest, _ standardWait: Duration, _ services: PushServices, _ logger: Logger,
    on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    // No unknown parameter: a misspelt `dry_run` would send.
    let query = try StrictQuery(request.head, known: ["campaign", "user_id", "dry_run"])
    let campaign = try query.name("campaign") ?? standardCampaign
    let user = try query.id("user_id", of: services.idTypes.users)
    guard ["true", "false", nil].contains(query["dry_run"]) else {
      throw ProblemDetails.content("dry_run", "dry_run must be true or false.")
    }
    let unknown = ProblemDetails(.notFound, detail: "There is no campaign \(campaign), or it is not active.")
    if query["dry_run"] == "true" {
      do {
        let preview = try await CampaignPreview.make(
          of: campaign, onlyUser: user, from: services.callers, logger: logger, on: reactor)
        guard let preview else { throw unknown }
        return HTTPServerResponse(json(of: preview, campaign))
      } catch let error as DefinitionDefect {
        throw ProblemDetails(.conflict, detail: "The campaign's definition cannot be used: \(error)")
      }
    }
    guard let wake = services.wakeCampaigns else {
      throw ProblemDetails(
        .forbidden, detail: "Campaigns are switched off: PUSH_TRIGGER_ENABLED is not true. A dry run is possible.")
    }
    guard let run = try await services.callers.enrol(campaign, onlyUser: user, on: reactor) else { throw unknown }
    wake()
    let preference = WaitPreference(request.head.fields, default: standardWait)
    let status = try await status(of: run.runID, within: preference.limit, services, on: reactor)
    return preference.response(status.isFinished ? .ok : .accepted, json(of: status, run.runID).encoded())
  }

  private static func status(
    of id: UUID, within limit: Duration, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> CampaignRunStatus {
    let deadline = Reactor.now + limit.clampedNanoseconds
    while true {
      guard let status = try await services.callers.campaignRun(id, on: reactor) else {
        throw ProblemDetails(.internalServerError)
      }
      if status.isFinished || Reactor.now >= deadline { return status }
      await reactor.sleep(for: lookInterval)
    }
  }

  /// How far a run has come; the members in the order of their names.
  private static func json(of status: CampaignRunStatus, _ id: UUID) -> PayloadObject {
    var reasons = PayloadObject()
    for (reason, count) in status.reasons.sorted(by: { $0.key < $1.key }) { reasons[reason] = .count(count) }
    return [
      "campaign": .text(status.campaign), "committed": .count(status.committed),
      "cost_microdollars": .count(status.costMicrodollars), "enrolled": .count(status.enrolled),
      "failed": .count(status.failed), "finished": .boolean(status.isFinished),
      "finished_at": status.isFinished ? .instant(status.finishedAt) : nil, "input_tokens": .count(status.inputTokens),
      "output_tokens": .count(status.outputTokens), "reasons": .object(reasons), "run_id": .text(id.lowercased),
      "skipped": .count(status.skipped), "started_at": .instant(status.startedAt),
      "undecided": .count(status.undecided),
    ]
  }

  private static func json(of preview: CampaignPreview, _ campaign: String) -> PayloadObject {
    [
      "dry_run": true, "campaign": .text(campaign), "eligible": .count(preview.eligibleCount),
      "has_more": .boolean(preview.eligibleCount > preview.users.count), "users": .list(preview.users.map(json)),
    ]
  }

  /// The inputs of the rules are ages, counts and names, no text of a user.
  private static func json(of user: DecidedOccasion) -> PayloadObject {
    let inputs = user.findings.flatMap { PayloadObject(reading: $0.utf8)?.object("inputs") }
    return [
      "user_id": .text(user.occasion.userID.text), "local_day": .text(user.occasion.fireDate),
      "would_send": .boolean(user.pushType != nil),
      "push_type": .text(user.pushType), "reason": .text(user.refusal), "inputs": .object(inputs ?? [:]),
    ]
  }
}
