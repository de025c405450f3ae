import Campaigns
import CoreMetrics
import HTTPTransfers
import LanguageModels
import Logging
import PushPipeline
import PushStore
import Reactors
import Settings

/// The campaigns of a process, with the language model that writes for them.
final class CampaignDuty {
  private let runner: CampaignRunner
  private let model: LanguageModelClient?

  /// Nil where campaigns are switched off.
  init?(
    _ settings: CampaignSettings, store: PushDatabase, pipeline: DeliveryPipeline, metrics: any MetricsFactory,
    logger: Logger, on reactor: isolated Reactor
  ) {
    guard settings.isEnabled else { return nil }
    let writer = settings.model.map { Self.writer($0, on: reactor) }
    model = writer?.client
    let pipeline = ReactorBound(pipeline, on: reactor)
    var pace = CampaignPace()
    pace.standardMinutes = settings.minutes
    runner = CampaignRunner(
      store: store, writer: writer?.writer,
      limits: ModelUsageLimits(
        tokensMax: settings.dailyTokensMax, costMicrodollarsMax: settings.dailyMicrodollarsMax),
      pace: pace, metrics: CampaignMetrics(metrics), logger: logger,
      queued: { pipeline.value(on: $0).wake(.due, on: $0) })
    if settings.model == nil {
      logger.notice("campaigns are on, and no language model is set up: only templates are sent")
    }
  }

  private static func writer(
    _ settings: LanguageModelSettings, on reactor: isolated Reactor
  ) -> (client: LanguageModelClient, writer: ModelWriter) {
    let configuration = LanguageModelConfiguration(settings)
    let client = LanguageModelClient(configuration, on: reactor)
    let writer = ModelWriter(
      client, replyTokensMax: configuration.replyTokensMax, inputPrice: settings.inputPrice,
      outputPrice: settings.outputPrice)
    return (client, writer)
  }

  func start(on reactor: isolated Reactor) {
    reactor.start { await self.runner.run(on: reactor) }
  }

  /// Looks at those who were noted.
  func wake(on reactor: isolated Reactor) { runner.wake(on: reactor) }

  /// Begins nobody more.
  func stop(on reactor: isolated Reactor) { runner.stop(on: reactor) }

  /// Waits for those under way, and breaks off calls that last longer.
  func close(within limit: Duration, on reactor: isolated Reactor) async {
    _ = await runner.drain(within: limit, on: reactor)
    model?.close(on: reactor)
  }
}

extension LanguageModelConfiguration {
  init(_ settings: LanguageModelSettings) {
    let provider: LanguageModelProvider = settings.provider == .anthropic ? .anthropicMessages : .openAICompatible
    self.init(provider, baseURL: settings.url?.exposed, key: LanguageModelKey(settings.key.exposed))
    if let name = settings.name { model = name }
    deadline = settings.limit
    if let certificates = settings.certificates { trust = .only(certificates) }
  }
}
