internal import PushStore

/// The figures at the top of the overview.
struct FigureList {
  let overview: ServiceOverview

  var html: HTML {
    let figures: [HTML] = [throughput, latency, inbox, holds, retries, waiting]
    return "<dl class=\"figures\">\(figures)</dl>"
  }

  private var throughput: HTML {
    let ledger = overview.ledger
    let isMinute = ledger.span >= .seconds(60)
    return figure(
      isMinute ? "Sent in the last minute" : "Sent in the last \(Wording.span(ledger.span))",
      Wording.number(ledger.sentLastMinute), isMinute ? share(ledger.counts, ledger.span) : nil)
  }

  private func share(_ counts: LedgerFigures.Counts, _ span: Duration) -> String {
    "last \(Wording.span(span)): \(Wording.number(counts.sent)) of \(Wording.number(counts.total))"
  }

  private var latency: HTML {
    let ledger = overview.ledger
    let title = "Commit to APNs"
    guard let all = ledger.latency else { return figure(title, "–", "nothing was sent") }
    guard let recent = ledger.latencyLastMinute else {
      return figure(title, Wording.duration(all.median), "p99 \(Wording.duration(all.percentile99))")
    }
    return figure(
      title, Wording.duration(recent.median),
      "p99 \(Wording.duration(recent.percentile99))",
      "last \(Wording.span(ledger.span)): \(Wording.duration(all.median)), p99 \(Wording.duration(all.percentile99))"
    )
  }

  private var inbox: HTML {
    let queues = overview.queues
    return figure(
      "In the inbox", Wording.count(queues.inbox), queues.oldestAge.map { "oldest \(Wording.age($0))" })
  }

  private var holds: HTML {
    let queues = overview.queues
    return figure(
      "Held", Wording.count(queues.holds, isAtLeast: queues.hasMoreWork), queues.nextHold.map { due("looked at", $0) })
  }

  private var retries: HTML {
    let queues = overview.queues
    return figure(
      "To be tried again", Wording.count(queues.retries, isAtLeast: queues.hasMoreWork && queues.retries > 0),
      queues.nextRetry.map { due("tried", $0) })
  }

  private var waiting: HTML {
    let lanes = overview.lanes
    // Beyond its bound a lane's count is a lower one, and so is the sum.
    let isAtLeast = lanes.contains { $0.waiting > PushDatabase.overviewCountMax }
    return figure(
      "Waiting for APNs", Wording.number(lanes.map(\.waiting).reduce(0, +)) + (isAtLeast ? "+" : ""),
      lanes.map(\.oldestAge).max().map { "oldest \(Wording.age($0))" })
  }

  private func due(_ verb: String, _ wait: Duration) -> String {
    wait > .zero ? "first \(verb) in \(Wording.age(wait))" : "first \(verb) now"
  }

  private func figure(_ title: String, _ value: String, _ notes: String?...) -> HTML {
    let notes = notes.compactMap { $0 }.map { "<dd class=\"note\">\($0)</dd>" as HTML }
    return "<div><dt>\(title)</dt><dd>\(value)</dd>\(notes)</div>\n"
  }
}

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

  private func perMinute(_ count: Int) -> Int {
    let slice = figures.span / figures.slices.count
    return Int((Double(count) * (Duration.seconds(60) / slice)).rounded())
  }
}
