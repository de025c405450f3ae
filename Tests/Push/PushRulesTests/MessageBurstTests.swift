import PushRules
import TestRandomness
import Testing

private let policy = FoldPolicy(window: .microseconds(20))

private func message(_ time: Int64) -> BurstMessage { BurstMessage(enqueuedAt: time, id: HostID(text: "m\(time)")) }

@Suite("Bursts of messages")
struct MessageBurstTests {
  /// A conversation with one recipient, in the order in which things happen.
  private struct Scene {
    var burst: MessageBurst?
    var waiting: [BurstCandidate] = []

    /// - Parameters:
    ///   - now: when it is decided; its commit unless another time is said.
    ///   - isPutOff: whether it comes again.
    mutating func post(
      _ time: Int64, at now: Int64? = nil, again isPutOff: Bool = false, mention: Bool = false, lookedAt: Int64? = nil
    ) -> [String] {
      waiting.append(
        BurstCandidate(
          message(time), decidedAt: now ?? time, isPutOff: isPutOff, isMentioned: mention, lookedAt: lookedAt))
      return decide()
    }

    mutating func answer(_ time: Int64, shown: Bool = true) -> [String] {
      burst?.answered(message(time), isShown: shown)
      return decide()
    }

    /// A message that comes and is shown at once.
    mutating func show(_ time: Int64) {
      _ = post(time)
      _ = answer(time)
    }

    private mutating func decide() -> [String] {
      policy.decide(&waiting, of: &burst).map { decided in
        "\(decided.message.enqueuedAt) \(decided.decision)"
          + (decided.decision == .fold ? "" : " +\(burst?.more ?? 0)")
      }
    }
  }

  @Test("the first message sounds, and what follows within the window updates it at once")
  func follows() {
    var scene = Scene()
    #expect(scene.post(0) == ["0 sound +0"])
    #expect(scene.answer(0) == [])
    #expect(scene.post(1) == ["1 update +1"])
    #expect(scene.answer(1) == [])
    #expect(scene.post(19) == ["19 update +2"])
    #expect(scene.answer(19) == [])
    #expect(scene.post(20) == ["20 sound +0"])
  }

  @Test("while a push has no answer the others wait; then the newest goes, and the others fold into it")
  func waits() {
    var scene = Scene()
    #expect(scene.post(0) == ["0 sound +0"])
    #expect(scene.post(1) == [] && scene.post(3) == [] && scene.post(2) == [])
    #expect(scene.answer(0) == ["3 update +3"])
    #expect(scene.answer(3) == ["1 fold", "2 fold"])
  }

  @Test("what waits for a push that fails is not lost: the next newest goes")
  func failedUpdate() {
    var scene = Scene()
    _ = scene.post(0)
    _ = scene.post(1)
    _ = scene.post(2)
    #expect(scene.answer(0) == ["2 update +2"])
    #expect(scene.answer(2, shown: false) == ["1 update +2"])
    #expect(scene.answer(1) == [])
    #expect(scene.post(2, at: 9, again: true) == ["2 update +2"])
  }

  @Test("nothing is shown of a burst whose first push failed, so the next message sounds, in its notification")
  func failedFirst() {
    var scene = Scene()
    _ = scene.post(0)
    #expect(scene.answer(0, shown: false) == [])
    #expect(scene.post(1) == ["1 sound +1"])
    #expect(scene.burst?.first == message(0))
    #expect(scene.answer(1) == [])
    #expect(scene.post(0, at: 5, again: true) == ["0 fold"])
    // From its sound on.
    #expect(scene.post(20) == ["20 update +2"])
    #expect(scene.answer(20) == [])
    #expect(scene.post(21) == ["21 sound +0"])
  }

  @Test("a push that is tried again is what it was, also after the window")
  func again() {
    var scene = Scene()
    scene.show(0)
    #expect(scene.post(5) == ["5 update +1"])
    #expect(scene.answer(5, shown: false) == [])
    #expect(scene.post(5, at: 40, again: true) == ["5 update +1"])
    #expect(scene.burst?.first == message(0))
  }

  @Test("after an outage the newest sounds, with the others counted")
  func outage() {
    var scene = Scene()
    _ = scene.post(0)
    for time in 1..<100 { #expect(scene.post(Int64(time), at: 200) == []) }
    #expect(scene.answer(0) == ["99 sound +98"])
    #expect(scene.burst?.first == message(80))
    #expect(scene.answer(99).count == 98)
    #expect(scene.post(201) == ["201 update +99"])
  }

  @Test("a mention sounds within the window, and beside a newer message that is shown")
  func mentions() {
    var scene = Scene()
    scene.show(0)
    #expect(scene.post(2, mention: true) == ["2 sound +0"])
    #expect(scene.answer(2) == [])
    #expect(scene.post(3) == ["3 update +1"])
    #expect(scene.answer(3) == [])
    let burst = scene.burst
    #expect(scene.post(1, at: 4, mention: true).first?.hasPrefix("1 soundBeside") == true)
    #expect(scene.burst?.first == burst?.first && scene.burst?.shown == burst?.shown)
    #expect(scene.post(1, at: 5, mention: true) == ["1 fold"])
  }

  @Test("what the recipient has seen counts no more")
  func looked() {
    var scene = Scene()
    scene.show(0)
    scene.show(1)
    #expect(scene.post(5, lookedAt: 4) == ["5 update +0"])
    #expect(scene.answer(5) == [])
    #expect(scene.post(6, lookedAt: 5) == ["6 update +1"])
  }

  @Test("no message is counted by two bursts")
  func countedOnce() {
    var scene = Scene()
    scene.show(0)
    scene.show(1)
    #expect(scene.post(30) == ["30 sound +0"])
    #expect(scene.answer(30) == [])
    #expect(scene.post(1, at: 31) == ["1 fold"])
    #expect(scene.post(32) == ["32 update +1"])
  }

  @Test("what the ledger tells of a burst goes on as it was")
  func fromLedger() {
    var burst = MessageBurst(first: message(0), begunAt: 0)
    burst.learn(message(0), isShown: true, sounds: true, begunAt: 0, more: 0)
    burst.learn(message(4), isShown: true, sounds: false, begunAt: 0, more: 2)
    var scene = Scene(burst: burst)
    #expect(scene.post(3) == ["3 fold"])
    #expect(scene.post(6) == ["6 update +4"])
    #expect(scene.answer(6) == [])
    #expect(scene.post(20) == ["20 sound +0"])
  }

  @Test("random orders of commits, answers and failures: nothing is lost, nothing goes back, one sound a window")
  func timelines() {
    for seed in 0..<2000 {
      var generator = SeededGenerator(seed: UInt64(seed))
      var scene = Scene()
      var left: Set<Int64> = []
      var inFlight: Int64?
      var shown: Int64 = -1
      var sounds: [Int64] = []
      func take(_ decisions: [String], at now: Int64) {
        for decision in decisions {
          let words = decision.split(separator: " ")
          let time = Int64(words[0]) ?? -1
          if words[1] == "fold" {
            #expect(time < shown, "seed \(seed): \(decision)")
            left.remove(time)
          } else {
            #expect(inFlight == nil && time > shown, "seed \(seed): \(decision), shown \(shown)")
            inFlight = time
            if words[1] == "sound" { sounds.append(now) }
          }
        }
      }
      for now in stride(from: Int64(0), to: 60, by: 1) {
        if Bool.random(using: &generator) {
          left.insert(now)
          take(scene.post(now), at: now)
        }
        if let time = inFlight, Bool.random(using: &generator) {
          inFlight = nil
          let isShown = Int.random(in: 0..<5, using: &generator) > 0
          if isShown {
            left.remove(time)
            shown = max(shown, time)
          }
          take(scene.answer(time, shown: isShown), at: now)
          // It is tried again.
          if !isShown { take(scene.post(time, at: now, again: true), at: now) }
        }
      }
      for _ in 0..<200 {
        guard let time = inFlight else { break }
        inFlight = nil
        left.remove(time)
        shown = max(shown, time)
        take(scene.answer(time), at: 60)
      }
      #expect(left == [], "seed \(seed)")
    }
  }
}
