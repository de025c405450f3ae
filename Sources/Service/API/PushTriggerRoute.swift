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
struct PushTriggerRoute: Sendable {
  /// The campaign that runs when the request names no other.
  private static let standardCampaign = "coach"
  /// Between two polls of a run that a caller waits for: other processes decide a part of it, and only the database shows that.
  private static let lookInterval = Duration.milliseconds(100)

  let services: PerReactor<PushServices>
  let standardWait: Duration
  let logger: Logger

  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>, wait: Duration) {
    let route = PushTriggerRoute(services: services, standardWait: wait, logger: group.logger)
    group.addForServices(.post, "/v1/push-trigger") { try await route.answer($0, on: $1) }
    group.addForServices(.get, "/v1/push-trigger/{run_id}") { request, reactor in
      let id = try request.uuid("run_id")
      guard let status = try await services.value(on: reactor).callers.campaignRun(id, on: reactor) else {
        throw ProblemDetails(.notFound, detail: "There is no such run, or it is no longer kept.")
      }
      return HTTPServerResponse(json: CampaignRunAnswer(id, status).json)
    }
  }

  /// What the host's functions cannot do is no fault of the service, and repeating the request mends nothing.
  private func answer(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    do {
      return try await handle(request, on: reactor)
    } catch let error as PostgresError where error.isRefusal {
      logger.error("a campaign's audience cannot be read", metadata: ["error": "\(error)"])
      let state = error.sqlState.map { " (SQLSTATE \($0))" } ?? ""
      throw ProblemDetails(
        .conflict, detail: "A function of the campaign fails in the database\(state); the service's log has the error.")
    }
  }

  private func handle(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    let order = try PushTriggerOrder(
      request.head, campaign: Self.standardCampaign, services.value(on: reactor).idTypes)
    let services = services.value(on: reactor)
    if order.isDryRun { return try await preview(order, services, on: reactor) }
    guard let wake = services.wakeCampaigns else {
      throw ProblemDetails(
        .forbidden, detail: "Campaigns are switched off: PUSH_TRIGGER_ENABLED is not true. A dry run is possible.")
    }
    guard let run = try await services.callers.enrol(order.campaign, onlyUser: order.userID, on: reactor) else {
      throw Self.unknown(order.campaign)
    }
    wake()
    let preference = WaitPreference(request.head.fields, default: standardWait)
    let status = try await status(of: run.runID, within: preference.limit, services, on: reactor)
    return preference.response(status.undecided == 0 ? .ok : .accepted, CampaignRunAnswer(run.runID, status).json)
  }

  private func status(
    of id: UUID, within limit: Duration, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> CampaignRunStatus {
    let deadline = Reactor.now + limit.clampedNanoseconds
    while true {
      guard let status = try await services.callers.campaignRun(id, on: reactor) else {
        throw ProblemDetails(.internalServerError)
      }
      if status.undecided == 0 || Reactor.now >= deadline { return status }
      await reactor.sleep(for: Self.lookInterval)
    }
  }

  private func preview(
    _ order: PushTriggerOrder, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    do {
      let preview = try await CampaignPreview.make(
        of: order.campaign, onlyUser: order.userID, from: services.callers, logger: logger, on: reactor)
      guard let preview else { throw Self.unknown(order.campaign) }
      return HTTPServerResponse(json: CampaignPreviewAnswer.json(preview, campaign: order.campaign))
    } catch let error as CampaignUnusable {
      throw ProblemDetails(.conflict, detail: "The campaign's definition cannot be used: \(error)")
    }
  }

  private static func unknown(_ campaign: String) -> ProblemDetails {
    ProblemDetails(.notFound, detail: "There is no campaign \(campaign), or it is not active.")
  }
}

/// What is asked for, by the parameters of the query.
struct PushTriggerOrder: Equatable {
  let campaign: String
  let userID: HostID?
  let isDryRun: Bool

  /// Each parameter at most once, in its form, and no unknown one: a misspelt `dry_run` would send.
  init(_ head: RequestHead, campaign standard: String, _ types: IDTypes = IDTypes()) throws(ProblemDetails) {
    let query = try StrictQuery(head, known: ["campaign", "user_id", "dry_run"])
    campaign = try query.name("campaign") ?? standard
    userID = try query.id("user_id", of: types.users)
    switch query["dry_run"] {
    case nil, "false": isDryRun = false
    case "true": isDryRun = true
    default: throw .content("dry_run", "dry_run must be true or false.")
    }
  }
}

/// How far a run has come.
struct CampaignRunAnswer: JSONAnswer {
  let runID: String
  let campaign: String
  let finished: Bool
  let enrolled: Int
  let undecided: Int
  let committed: Int
  let skipped: Int
  let failed: Int
  let reasons: [String: Int]
  let inputTokens: Int
  let outputTokens: Int
  let costMicrodollars: Int
  let startedAt: String
  let finishedAt: String?

  init(_ id: UUID, _ status: CampaignRunStatus) {
    runID = id.lowercased
    campaign = status.campaign
    finished = status.undecided == 0
    enrolled = status.enrolled
    undecided = status.undecided
    committed = status.committed
    skipped = status.skipped
    failed = status.failed
    reasons = status.reasons
    inputTokens = status.inputTokens
    outputTokens = status.outputTokens
    costMicrodollars = status.costMicrodollars
    startedAt = TimeText.instant(status.startedAt)
    finishedAt = finished ? status.finishedAt.map(TimeText.instant) : nil
  }
}

enum CampaignPreviewAnswer {
  static func json(_ preview: CampaignPreview, campaign: String) -> [UInt8] {
    var object = PayloadObject()
    object["dry_run"] = true
    object["campaign"] = .string(campaign)
    object["eligible"] = .integer(Int64(preview.eligibleCount))
    object["has_more"] = .boolean(preview.eligibleCount > preview.users.count)
    object["users"] = .array(preview.users.map { .object(document($0)) })
    return object.encoded()
  }

  private static func document(_ user: CampaignPreview.User) -> PayloadObject {
    var object = PayloadObject()
    object["user_id"] = .string(user.userID.text)
    object["local_day"] = .string(user.localDay)
    object["would_send"] = .boolean(user.pushType != nil)
    object["push_type"] = user.pushType.map(PayloadValue.string)
    object["reason"] = user.reason.map(PayloadValue.string)
    object["inputs"] = .object(user.inputs)
    return object
  }
}
