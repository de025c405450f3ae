internal import PushStore

/// The pushes of a span as sixty bars, each divided by decision.
struct RateChart {
  private static let height = 120
  /// Of a bar and the gap behind it, in the picture's own units.
  private static let barWidth = 10

  let figures: LedgerFigures

  var html: HTML {
    let peak = figures.slices.map(\.total).max() ?? 0
    let bars = figures.slices.enumerated().map { bar($1, at: $0, peak: max(1, peak)) }
    let width = figures.slices.count * Self.barWidth
    return """
      <figure>
      <svg class="chart" viewBox="0 0 \(width) \(Self.height)" preserveAspectRatio="none" role="img"
       aria-label="\(summary(peak: peak))">
      \(bars)</svg>
      <div class="axis" aria-hidden="true"><span>\(Wording.duration(figures.span)) ago</span><span>now</span></div>
      <figcaption>
      <ul class="legend"><li class="sent">sent</li><li class="held">held</li><li class="skipped">skipped</li>
      <li class="failed">failed</li></ul>
      <span>Peak \(Wording.number(perMinute(peak))) per minute</span>
      </figcaption>
      </figure>
      """
  }

  private func summary(peak: Int) -> String {
    let counts = figures.counts
    return "Pushes of the last \(Wording.span(figures.span)): \(counts.sent) sent, \(counts.held) held, "
      + "\(counts.skipped) skipped, \(counts.failed) failed; at most \(perMinute(peak)) per minute."
  }

  /// Drawn from the bottom up.
  private func bar(_ counts: LedgerFigures.Counts, at place: Int, peak: Int) -> HTML {
    var top = Self.height
    let parts = [
      ("sent", counts.sent), ("held", counts.held), ("skipped", counts.skipped), ("failed", counts.failed),
    ].compactMap { kind, count -> HTML? in
      guard count > 0 else { return nil }
      // What is there is seen.
      let height = min(top, max(2, count * Self.height / peak))
      top -= height
      return """
        <rect class="\(kind)" x="\(place * Self.barWidth)" y="\(top)" width="\(Self.barWidth - 2)" height="\(height)"/>
        """
    }
    return parts.isEmpty ? .none : "<g>\(parts)</g>\n"
  }

  /// A bar's count as a rate.
  private func perMinute(_ count: Int) -> Int {
    let slice = figures.span / figures.slices.count
    return Int((Double(count) * (Duration.seconds(60) / slice)).rounded())
  }
}
