import Simulators
import TestRandomness

/// What happens when in a run: a function of the seed and nothing else.
///
/// Dealt from a shuffled deck, so that every minute or so sees every kind; one every one to three seconds. A replica
/// that is away or paused by plan is left alone until it is back.
struct DisruptionSchedule {
  static let replicas = 2

  let disruptions: [Disruption]

  private enum Card {
    case kill, pause
    case postgres(Disruption.PostgresEnd)
    case strike(ServerFault)
    case script(ServerFault)
    case unavailable, refuse
  }

  /// - Parameter seconds: how long disruptions go on.
  init(seed: UInt64, seconds: Int) {
    var generator = SeededGenerator(seed: seed)
    var dealt: [Disruption] = []
    var deck: [Card] = []
    var freeAt = [Int](repeating: 0, count: Self.replicas)
    var now = 0
    while true {
      now += Int.random(in: 1000...3000, using: &generator)
      guard now < seconds * 1000 else { break }
      if deck.isEmpty { deck = Self.deck.shuffled(using: &generator) }
      let card = deck.removeLast()
      dealt.append(Disruption(atMilliseconds: now, kind: Self.kind(card, now, &freeAt, &generator)))
    }
    disruptions = dealt
  }

  private static let deck: [Card] =
    [Card](repeating: .kill, count: 6) + [Card](repeating: .pause, count: 4) + [
      .postgres(.fast), .postgres(.fast), .postgres(.immediate), .postgres(.immediate), .postgres(.kill),
      .strike(.goAway(lastStream: .all, code: 0, debug: "")),
      .strike(.goAway(lastStream: .none, code: 0, debug: #"{"reason":"Shutdown"}"#)),
      .strike(.dropAfterProcessing), .strike(.blackHole),
      .script(.goAway(lastStream: .current, code: 0, debug: "")),
      .script(.goAway(lastStream: .previous, code: 0, debug: "")),
      .script(.dropBeforeProcessing), .script(.dropAfterProcessing), .script(.resetStream(code: 2)),
      .script(.refuseStream), .script(.blackHole),
      .unavailable, .unavailable, .refuse, .refuse,
    ]

  private static func kind(
    _ card: Card, _ now: Int, _ freeAt: inout [Int], _ generator: inout SeededGenerator
  ) -> Disruption.Kind {
    switch card {
    case .kill:
      let away = Int.random(in: 0...1500, using: &generator)
      return .killReplica(take(until: now + away, now, &freeAt, &generator), awayMilliseconds: away)
    case .pause:
      let pause = Int.random(in: 1000...6000, using: &generator)
      return .pauseReplica(take(until: now + pause, now, &freeAt, &generator), milliseconds: pause)
    case .postgres(let end): return .restartPostgres(end, awayMilliseconds: .random(in: 0...1200, using: &generator))
    case .strike(let fault): return .strike(fault)
    case .script(let fault):
      return .script(
        fault, times: .random(in: 1...4, using: &generator), milliseconds: .random(in: 200...800, using: &generator))
    case .unavailable:
      let digits = "0123456789abcdef".shuffled(using: &generator).prefix(5)
      return .unavailable(tokensFrom: String(digits), times: .random(in: 1...2, using: &generator))
    case .refuse: return .refuseConnections(milliseconds: .random(in: 500...4000, using: &generator))
    }
  }

  /// A replica that is up by plan; when none is, the one that will be first: what happens then waits for it.
  private static func take(
    until end: Int, _ now: Int, _ freeAt: inout [Int], _ generator: inout SeededGenerator
  ) -> Int {
    let free = freeAt.indices.filter { freeAt[$0] <= now }
    let index = free.randomElement(using: &generator) ?? freeAt.indices.min { freeAt[$0] < freeAt[$1] } ?? 0
    freeAt[index] = max(end, freeAt[index])
    return index
  }
}
