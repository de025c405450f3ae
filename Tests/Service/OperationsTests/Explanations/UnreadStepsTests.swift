import FoundationEssentials
import PushStore
import Testing

@testable import Operations

@Suite("Whether a push is unread, in words")
struct UnreadStepsTests {
  private static let minute: Int64 = 60_000_000
  private static let at = Told.committedAt + 15 * minute

  private func facts(_ state: UnreadFacts.State, attempts: Int = 1) -> UnreadFacts {
    UnreadFacts(
      logID: UUID(), state: state, occurredAt: Self.at, at: Self.at + Self.minute, attempts: attempts,
      sentAt: Told.committedAt)
  }

  private func text(_ unread: UnreadFacts) -> String {
    UnreadSteps(unread: unread, sentAt: nil, now: Self.at + 60 * Self.minute).step.text
  }

  @Test("it says when the push is looked at, whether the host took the event, and what is wrong with its answers")
  func states() {
    var unread = facts(.checkedLater, attempts: 0)
    let time = TimeText.instant(Self.at + Self.minute)
    #expect(text(unread) == "if it is not read or opened by \(time), push.unread goes to the host")
    unread = facts(.waiting, attempts: 0)
    #expect(text(unread) == "not read or opened for 15 min: push.unread is about to be sent to the host")
    unread = facts(.waiting, attempts: 2)
    unread.error = "status 503"
    #expect(
      text(unread)
        == "not read or opened for 15 min: the host has not taken push.unread in 2 attempts (status 503); the next is at \(time)"
    )
    unread.state = .dead
    #expect(
      text(unread)
        == "not read or opened for 15 min: the host has not taken push.unread in 2 attempts (status 503), and nobody tries again"
    )
    unread = facts(.taken)
    unread.status = 200
    #expect(
      text(unread) == "not read or opened for 15 min: push.unread was sent to the host, taken with 200 at \(time)")
  }

  @Test(
    "it says why the host was not told",
    arguments: [
      ("opened", "the push was opened"), ("read", "the message was read"), ("seen", "the user has looked since"),
      ("deleted", "what it was about is deleted"), ("cancelled", "it was cancelled"),
      ("left", "the user is no recipient any more"), ("user_gone", "the user is deleted"),
      ("opted_out", "the user wants none"), ("not_known", "a function of the host failed for an hour"),
      ("pushed_today", "pushed_today"), (nil, "the reason was not kept"),
    ] as [(String?, String)])
  func causes(_ reason: String?, _ words: String) {
    var unread = facts(.cancelled, attempts: 0)
    unread.reason = reason
    #expect(text(unread) == "no push.unread to the host: \(words)")
    unread.attempts = 1
    #expect(text(unread) == "no push.unread to the host, after 1 attempt: \(words)")
  }

  @Test("it is a step of the recipient's story, before now and in the order of time")
  func step() {
    var told = Told()
    told.claim(decision: .sent)
    told.recipient.unread = facts(.taken)
    let steps = RecipientStory(event: told.event, recipient: told.recipient, instances: [:]).steps
    #expect(steps.suffix(2).map(\.what) == [.unread, .now])
    #expect(steps.dropLast().last?.at == Self.at + Self.minute)
  }
}
