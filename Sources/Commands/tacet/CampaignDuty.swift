import Campaigns
import CoreMetrics
import HTTPTransfers
import Logging
import Postgres
import PushPipeline
import PushRules
import PushStore
import Reactors
import Settings

/// The campaigns of a process, with the language model that writes for them. On the last reactor: where there are several, messages do
/// not wait for a rendering.
final class CampaignDuty {
  private let runner: CampaignRunner
  private let model: LanguageModelClient?
  private let pool: PostgresPool
  private let audiencePool: PostgresPool

  /// Nil where campaigns are switched off.
  init?(
    _ settings: CampaignSettings, sessions: ServiceSessions, pipeline: PipelineHandle, metrics: any MetricsFactory,
    logger: Logger, on reactor: isolated Reactor
  ) {
    guard settings.isEnabled else { return nil }
    let sleep = sessions.sleep
    pool = sessions.pool(logger: logger)
    let store = PushDatabase(pool: pool)
    audiencePool = PushDatabase.analysisPool(sessions.configuration, logger: logger)
    model = settings.modelKey.map { LanguageModelClient(LanguageModelConfiguration(settings, key: $0), on: reactor) }
    if model == nil { logger.notice("campaigns are on, and no language model is set up: only templates are sent") }
    var pace = CampaignPace()
    pace.standardMinutes = settings.minutes
    let metrics = CampaignMetrics(metrics)
    let contents = ContentFetcher(
      store: store, configuration: ContentConfiguration(settings), metrics: metrics, logger: logger, on: reactor)
    pace.pushesPerSecond = settings.slotPushesPerSecond
    let limits = ModelUsageLimits(
      tokensMax: settings.dailyTokensMax, costMicrodollarsMax: settings.dailyMicrodollarsMax)
    runner = CampaignRunner(
      store: store, audiences: PushDatabase(pool: audiencePool), contents: contents, writer: model, limits: limits,
      pace: pace, metrics: metrics, sleep: sleep,
      hasMessages: { pipeline.messages.isFlowing(now: Reactor.now) }, logger: logger,
      queued: { pipeline.wake(.due, on: $0) })
  }

  /// What its sessions do.
  var load: SessionLoad { SessionLoad(of: pool) }

  func start(on reactor: isolated Reactor) {
    pool.start(on: reactor)
    reactor.start { await self.runner.run(on: reactor) }
  }

  /// Looks at the users who are enrolled.
  func wake(on reactor: isolated Reactor) { runner.wake(on: reactor) }

  /// Begins no more users.
  func stop(on reactor: isolated Reactor) { runner.stop(on: reactor) }

  /// Waits for the users under way, and breaks off calls that last longer.
  func close(within limit: Duration, on reactor: isolated Reactor) async {
    _ = await runner.drain(within: limit, on: reactor)
    await audiencePool.close(within: .seconds(1), on: reactor)
    model?.close(on: reactor)
    await pool.close(on: reactor)
  }
}

extension LanguageModelConfiguration {
  init(_ settings: CampaignSettings, key: Secret<String>) {
    let provider: LanguageModelProvider =
      settings.modelProvider == .anthropic ? .anthropicMessages : .openAICompatible
    self.init(provider, baseURL: settings.modelURL?.exposed, key: key)
    if let name = settings.modelName { model = name }
    inputPrice = settings.modelInputPrice
    outputPrice = settings.modelOutputPrice
    deadline = settings.modelLimit
    if let certificates = settings.modelCertificates { trust = .only(certificates) }
  }
}

extension ContentConfiguration {
  init(_ settings: CampaignSettings) {
    self.init()
    authorization = settings.contentAuthorization
    allowsPrivateAddresses = settings.allowsPrivateContent
  }
}
