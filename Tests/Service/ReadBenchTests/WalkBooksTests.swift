import PushKinds
import PushStore
import Testing

@testable import ReadBench

@Suite("The books of a walk")
struct WalkBooksTests {
  private static let subject = CallSubject(
    message: HostID(text: "m"), conversation: HostID(text: "c"), user: HostID(text: "o'neil"))

  @Test(
    "each function's worst call is kept as a statement for psql",
    arguments: [
      (.messageContext, "message_context('m')"), (.seenBy, "seen_by('c')"), (.pushTargets, "push_targets('o''neil')"),
      (.recipientPreferences, "recipient_preferences('o''neil', 'message', 'c', now())"),
      (.unreadCount, "unread_count('o''neil')"), (.isMentioned, "is_mentioned('m', 'o''neil')"),
    ] as [(MeasuredFunction, String)])
  func worst(_ function: MeasuredFunction, _ call: String) throws {
    var books = WalkBooks()
    books.note(function, 5, CallSubject(message: HostID(text: "other")))
    books.note(function, 7, Self.subject)
    books.note(function, 7, CallSubject(message: HostID(text: "other")))
    books.note(function, 6, CallSubject(message: HostID(text: "other")))
    var figures = BenchFigures.sample()
    books.fill(&figures)
    let calls = try #require(figures.calls.first { $0.function == function })
    #expect(calls.times == Distribution([5, 7, 7, 6]))
    #expect(calls.worst == "explain (analyze, buffers) select * from tacet.\(call)")
    #expect(figures.calls.map(\.function) == MeasuredFunction.allCases)
    #expect(figures.calls.filter { $0.times != nil }.count == 1)
  }

  @Test("failures of a function are counted, and its first one is told; those of a read have the message's id")
  func failures() {
    struct Fault: Error {}
    var books = WalkBooks()
    books.noteFailure(of: .seenBy, Self.subject, Fault())
    books.noteFailure(of: .seenBy, CallSubject(message: HostID(text: "n")), Fault())
    books.noteFailure(of: nil, Self.subject, Fault())
    #expect(
      books.failures == [
        .init(
          what: "tacet.seen_by", cause: "fails (Fault())",
          example: "explain (analyze, buffers) select * from tacet.seen_by('c')", count: 2),
        .init(what: "the read of a message", cause: "fails (Fault())", example: "m"),
      ])
    #expect(books.failuresOnly.failures == books.failures)
  }
}
