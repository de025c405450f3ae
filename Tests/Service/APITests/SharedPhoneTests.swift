import PushRules
import Testing

@Suite("Two people and one phone")
struct SharedPhoneTests {
  @Test(
    "whoever logs in last gets the messages; the one before gets none there, also none that was held or tried again")
  func handedOver() async throws {
    try await ServiceRig.run { rig in
      let phone = try await SharedPhone(rig)
      let (ann, ben) = (try await rig.makeUser(), try await rig.makeUser())
      try await phone.logIn(ann)
      let first = try await phone.write(to: ann)
      #expect(try await phone.decision(on: first) == "sent|")
      await phone.answerNext(PushAnswer(status: 429, reason: "TooManyRequests"))
      let retried = try await phone.write(to: ann)
      #expect(try await phone.decision(on: retried) == "held|TooManyRequests")
      let held = try await phone.write(to: ann, isLooking: true)
      #expect(try await phone.decision(on: held) == "held|user_viewing")
      #expect(await phone.shown() == [first, retried])

      try await phone.logIn(ben)
      try await rig.psql("update public.conversation_participants set tacet_left_at = now()")
      try await phone.makeDue()
      for message in [retried, held] {
        try await phone.settled(message)
        #expect(try await phone.decision(on: message) == "skipped|no_tokens")
      }
      let later = try await phone.write(to: ann)
      #expect(try await phone.decision(on: later) == "skipped|no_tokens")
      let last = try await phone.write(to: ben)
      #expect(try await phone.decision(on: last) == "sent|")
      #expect(await phone.shown() == [first, retried, last])
    }
  }

  @Test("after a log-out nothing comes, and after the next log-in what comes is new")
  func loggedOut() async throws {
    try await ServiceRig.run { rig in
      let phone = try await SharedPhone(rig)
      let ann = try await rig.makeUser()
      try await phone.logIn(ann)
      let held = try await phone.write(to: ann, isLooking: true)
      try await phone.logOut(ann)
      try await rig.psql("update public.conversation_participants set tacet_left_at = now()")
      try await phone.makeDue()
      try await phone.settled(held)
      #expect(try await phone.decision(on: held) == "skipped|no_tokens")
      #expect(await phone.shown() == [])
      try await phone.logIn(ann)
      let last = try await phone.write(to: ann)
      #expect(await phone.shown() == [last])
    }
  }
}
