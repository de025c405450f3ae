import Testing

@testable import Operations

@Suite("A mapping that a person writes")
struct HostMappingTests {
  private static let whole = """
    # of the chat
    messages      public.posts                    # about 3100000 rows
      conversation  topic_id
      sender      user_id
      text        coalesce(body #>> '{a,# b}', '')   # from JSON
      only        post_type = 1
      only        deleted_at is null
    members       topic_users
      conversation topic_id
      user        user_id
      wants       notification_level > 0
    read          marker last_read >= post_number
    users         none
    devices       own
    role          tacet_service
    """

  @Test("is read, and written as it is read")
  func read() throws {
    let mapping = try HostMapping(Self.whole)
    #expect(mapping[.messages].head.value == "public.posts")
    #expect(mapping[.messages].value("text") == "coalesce(body #>> '{a,# b}', '')")
    #expect(mapping[.messages].all("only").map(\.value) == ["post_type = 1", "deleted_at is null"])
    #expect(mapping[.read].lines.map { [$0.key, $0.value] } == [["mark", "last_read"], ["place", "post_number"]])
    #expect(mapping.unsure == [])
    #expect(mapping.text == Self.whole)
  }

  @Test(
    "of what was read is spelled out, wherever it is said",
    arguments: [
      ("read marker unread_at > created_at", ["mark unread_at", "place created_at", "first_unread true"]),
      ("read states\nconversation c\nuser u\nmarker a >= b", ["conversation c", "user u", "mark a", "place b"]),
      ("read flag is_read and true", ["flag is_read and true"]),
      ("read array read_by", ["array read_by"]), ("read none", []),
    ])
  func reads(_ text: String, _ lines: [String]) throws {
    let mapping = try HostMapping("messages m\nconversation c\nsender s\ntext t\nmembers everyone\n\(text)")
    #expect(mapping[.read].lines.map { "\($0.key) \($0.value)" } == lines)
  }

  @Test(
    "says which line cannot be used, and why",
    arguments: [
      ("messages a\nmesages b", 2, "mesages is no line of messages"),
      ("sender a", 1, "belongs to no part"),
      ("messages a\nsender", 2, "sender has no value"),
      ("messages a\nsender b\nsender c", 3, "said before"),
      ("messages a\nmessages b", 2, "said before"),
      ("messages", 1, "messages has no value"),
      ("messages a\ntext 'b", 2, "a quote is not closed"),
      (
        "messages a\nsender b\nconversation c\nmembers everyone", 1,
        "messages needs lines conversation, sender, text; or else recipient"
      ),
      ("messages a\nsender b\nconversation c\ntext d", 0, "there is no line members"),
      (
        "messages a\nsender b\ntext d\nmembers everyone", 1,
        "messages needs lines conversation, sender, text; or else recipient"
      ),
      ("messages a\nsender b\ntext d\nrecipient c\nmembers everyone", 4 + 1, "belong together"),
      ("messages a\nsender b\ntext d\nrecipient c\nconversation c\nmembers recipient", 1, "or else recipient"),
      ("messages a\nsender b\ntext d\nconversation c\nmembers m\nuser u", 5, "members needs lines conversation, user"),
      ("messages a\nsender b\ntext d\nconversation c\nmembers everyone\nuser u", 6, "has no lines of its own"),
      (
        "messages a\nsender b\ntext d\nconversation c\nmembers everyone\nread r\nuser u", 6,
        "read needs lines message, user; or else"
      ),
      (
        "messages a\nsender b\ntext d\nconversation c\nmembers m\nconversation c\nuser u\nread marker x", 8,
        "a marker is"
      ),
      ("messages a\nsender b\ntext d\nconversation c\nmembers everyone\nrole a; drop", 6, "no name of a role"),
    ])
  func faults(_ text: String, _ line: Int, _ part: String) {
    let fault = #expect(throws: MappingFault.self) { try HostMapping(text) }
    #expect(fault?.line == line, "\(fault?.description ?? "")")
    #expect(fault?.description.contains(part) == true, "\(fault?.description ?? "")")
  }

  @Test("has a bound, which a longer one crosses")
  func bounds() throws {
    let rest = "\n" + Self.whole
    let filling = String(repeating: "#", count: 65_536 - rest.utf8.count)
    _ = try HostMapping(filling.prefix(1) + " " + filling.dropFirst(2) + rest)
    #expect(throws: MappingFault.self) { try HostMapping("# " + filling + rest) }
    #expect(throws: MappingFault.self) { try HostMapping(Self.whole + "\0") }
  }

  @Test("with a mark is not wired, and the mark's line is named")
  func marks() throws {
    let mapping = try HostMapping(Self.whole.replacing("  only        post", with: "? only        post"))
    #expect(mapping.unsure.map(\.value) == ["post_type = 1"])
    let fault = #expect(throws: MappingFault.self) {
      try WiringFile(mapping, HostSchema(tables: []), template: "")
    }
    #expect(fault?.line == 6)
  }
}
