import APNSSimulation
import PushRules
import Testing

@Suite("Payloads before the simulator's judge")
struct JudgedPayloadTests {
  @Test("the samples are of every push type")
  func complete() throws {
    #expect(try Set(PayloadSamples.all().map(\.pushType)) == Set(PushType.allCases))
  }

  @Test("every payload with every priority of its type is accepted, and nothing about it is noticed")
  func accepted() throws {
    var judge = try PayloadJudge()
    for payload in try PayloadSamples.all() {
      for priority in payload.pushType.allowedPriorities {
        let verdict = judge.verdict(on: try judge.request(payload, priority: priority))
        #expect(verdict.status == 200 && verdict.findings.isEmpty, "\(payload): \(verdict)")
        #expect(verdict.push.pushType?.rawValue == payload.pushType.rawValue)
        #expect(verdict.push.priority == priority.rawValue)
      }
    }
  }

  @Test("the usual fields of every push type are accepted", arguments: PushType.allCases)
  func usual(type: PushType) throws {
    var judge = try PayloadJudge()
    for payload in try PayloadSamples.all().filter({ $0.pushType == type }) {
      let verdict = judge.verdict(on: try judge.request(payload))
      #expect(verdict.status == 200 && verdict.push.priority == type.usualPriority.rawValue)
      #expect(verdict.push.expirationSeconds == (type == .pushtotalk ? 0 : nil))
    }
  }

  @Test(
    "every expiration and the longest collapse identifier arrive as they were meant",
    arguments: [
      (PushExpiration.attemptOnce, Int64?(0)), (.until(unixSeconds: 1_790_003_600), 1_790_003_600),
      (.until(unixSeconds: -1), 0), (.until(unixSeconds: .max), .max), (.servicePolicy, nil),
    ])
  func fields(expiration: PushExpiration, seconds: Int64?) throws {
    var judge = try PayloadJudge()
    let collapseIdentifier = try CollapseIdentifier(String(repeating: "c", count: 64))
    let request = try judge.request(
      AlertPayload(title: "t"), expiration: expiration, collapseIdentifier: collapseIdentifier)
    let verdict = judge.verdict(on: request)
    #expect(verdict.status == 200 && verdict.identifier == request.head.identifier.text)
    #expect(verdict.push.expirationSeconds == seconds && verdict.push.collapseID == collapseIdentifier.text)
  }

  @Test("an alert cut to the limit is accepted; so is each recipient's document")
  func fitted() throws {
    var judge = try PayloadJudge()
    for letter in ["a", "é", "漢", "👨‍👩‍👧‍👦", "🇩🇪", "\"", "\u{1}"] {
      let words = AlertText.verbatim(String(repeating: letter, count: 5_000))
      let alert = try AlertPayload(title: "t", body: words, badge: .max, sound: .default).fitted(to: 4_096)
      #expect(alert.isTrimmed)
      let request = try judge.request(alert.payload)
      let prepared = try PushRequest(head: request.head, body: PreparedAlert(alert.payload).encoded(badge: 1))
      for push in [request, prepared] {
        let verdict = judge.verdict(on: push)
        #expect(verdict.status == 200 && verdict.findings.isEmpty)
      }
    }
  }
}
