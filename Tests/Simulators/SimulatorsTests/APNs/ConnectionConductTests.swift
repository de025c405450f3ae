import Testing

@testable import Simulators

@Suite("The conduct of a connection")
struct ConnectionConductTests {
  @Test("streams open up with the first success, and again after a refusal")
  func streamsFollowAnswers() {
    var conduct = ConnectionConduct(policy: StreamPolicy())
    #expect(conduct.streams == 1)
    let announced = [403, 200, 200, 410, 429, 410, 200].map { status in
      conduct.answered(status: status, reason: nil)
    }
    #expect(announced == [[], [.announceStreams(1000)], [], [], [.announceStreams(1)], [], [.announceStreams(1000)]])
  }

  @Test("a policy without the two rules never changes the streams")
  func rulesCanBeSwitchedOff() {
    var policy = StreamPolicy()
    policy.startsWithOne = false
    policy.dropsAfterRefusal = false
    policy.streamsMax = 7
    var conduct = ConnectionConduct(policy: policy)
    #expect(conduct.streams == 7)
    let announced = [403, 200].flatMap { conduct.answered(status: $0, reason: nil) }
    #expect(announced.isEmpty)
  }

  @Test("bad tokens in a row end the connection once; a success between them starts the count anew")
  func badTokensEndTheConnection() {
    var policy = StreamPolicy()
    policy.badTokensMax = 2
    policy.dropsAfterRefusal = false
    policy.startsWithOne = true
    var conduct = ConnectionConduct(policy: policy)
    let answers = [400, 200, 400, 400, 400].map { status in
      conduct.answered(status: status, reason: status == 400 ? "BadDeviceToken" : nil)
    }
    #expect(answers == [[], [.announceStreams(1000)], [], [.goAway(reason: "BadDeviceToken")], []])
  }
}
