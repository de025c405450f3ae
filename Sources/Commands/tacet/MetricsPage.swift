import HTTPServing
import PrometheusMetrics
import PushStore
import Reactors

/// What `/metrics` shows: what was counted, and what is read when somebody asks.
struct MetricsPage: Sendable {
  let registry: PrometheusRegistry
  let workers: PerReactor<ReactorWorker>
  let meter: HTTPServiceMeter

  /// The page as text. Takes as long as its slowest part, the database, which has two seconds at the most.
  func text() async -> String {
    var figures: [ReactorFigures] = []
    for worker in workers.all { figures.append(await worker.perform { $0.figures(on: $1) }) }
    let process = await workers.all[0].perform { await $0.processWideFigures(on: $1) }
    return ExpositionText.make(
      registry.collect() + ReactorFigures.families(of: figures) + (process?.families ?? [])
        + HTTPServiceFigures.families(of: await meter.read()) + ProcessFigures.current().families
        + [Self.buildInformation])
  }

  private static var buildInformation: MetricFamily {
    var family = MetricFamily("tacet_build_info", "Always 1; the labels say what runs.", .gauge)
    family.add(.integer(1), ["version": BuildInformation.version])
    return family
  }
}
