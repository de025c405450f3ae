/// A name without case, punctuation and plural, so that `ChannelMembers`, `channel_members` and `channelmember` are equal.
struct NameKey: Equatable {
  let text: String

  init(_ name: String) {
    let text = Self.singular(Self.plain(name))
    self.text = text.hasSuffix("model") && text.count > 5 ? String(text.dropLast(5)) : text
  }

  /// The name of a column without the ending that makes it a reference: `userid`, `user_id` and `user` are `user`.
  init(column name: String) {
    let whole = Self.plain(name)
    for ending in ["uuid", "id"] where whole.hasSuffix(ending) && whole.count > ending.count {
      text = String(whole.dropLast(ending.count))
      return
    }
    text = whole
  }

  /// The name without case and punctuation alone.
  static func plain(_ name: String) -> String {
    String(name.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) })
  }

  /// The words of a name in the singular, as underscores and capitals part them.
  static func words(of name: String) -> [String] {
    var words: [String] = []
    var isInside = false
    for character in name {
      guard character.isASCII, character.isLetter || character.isNumber else {
        isInside = false
        continue
      }
      let startsWord = !isInside || character.isUppercase && words.last?.last?.isUppercase == false
      if startsWord { words.append("") }
      words[words.count - 1].append(character)
      isInside = true
    }
    return words.map { singular($0.lowercased()) }
  }

  /// The place among words: words that are the whole name come before words that end it. Nil when it ends in no word.
  func rank(among words: [String]) -> Int? {
    if let place = words.firstIndex(of: text) { return place }
    return words.firstIndex { text.hasSuffix($0) }.map { $0 + words.count }
  }

  /// The weight of the word that it is, or one less for a word that ends it; the heaviest.
  func weight(among words: [String: Int]) -> Int {
    words.reduce(0) { best, word in
      max(best, text == word.key ? word.value : text.hasSuffix(word.key) ? word.value - 1 : 0)
    }
  }

  private static func singular(_ text: String) -> String {
    if text.hasSuffix("people") { return text.dropLast(6) + "person" }
    if text.hasSuffix("ies") { return text.dropLast(3) + "y" }
    if ["sses", "xes", "ches", "uses"].contains(where: text.hasSuffix) { return String(text.dropLast(2)) }
    if text.hasSuffix("s"), !["ss", "us", "is"].contains(where: text.hasSuffix) { return String(text.dropLast()) }
    return text
  }
}

/// The names that applications give to tables and columns, as ``NameKey`` writes them, the usual first.
enum HostWords {
  // Tables, with how much each says.
  static let messages = ["message": 10, "post": 7, "comment": 4, "reply": 3, "note": 2]
  static let members = [
    "participant": 10, "participation": 10, "membership": 10, "member": 10, "subscription": 8, "subscriber": 8,
    "attendee": 6, "recipient": 6, "follower": 5, "user": 5, "profile": 5, "room": 4, "channel": 4, "conversation": 4,
    "thread": 4,
  ]
  static let users = ["user": 10, "userprofile": 10, "profile": 9, "account": 7, "person": 7, "member": 5]
  static let otherSenders = ["contact", "customer", "visitor", "lead", "guest", "bot"]
  static let devices = ["device", "push", "apns", "installation", "mobile"]
  /// Words in names of tables that look like one of these and are something else.
  static let others = [
    "archive", "history", "draft", "scheduled", "deleted", "template", "backup", "audit", "log", "report", "reaction",
    "invite", "invitation", "request", "ban", "block", "typing", "favorite", "star", "pin", "notification", "mention",
    "attachment", "remote", "banned", "blocked", "muted", "kicked", "removed", "waitlist", "pending", "former", "read",
    "receipt", "seen",
    "delivery", "rating", "vote", "like", "bookmark", "moderator", "view",
  ]
  /// Words in names of tables of members that leave nobody out.
  static let memberWords = [
    "user", "profile", "member", "participant", "participation", "membership", "subscription", "subscriber", "person",
    "chat", "dm", "direct",
    "message", "messaging", "to", "app", "tbl", "group", "room", "channel", "conversation", "map", "link", "join",
    "rel",
  ]

  // Columns of messages.
  static let bodies = [
    "body", "content", "text", "message", "messagetext", "messagebody", "fullmessage", "raw", "comment",
  ]
  static let conversations = [
    "conversation", "channel", "room", "chat", "dialog", "dialogue", "recipient", "topic", "thread", "discussion",
    "group", "ticket",
  ]
  static let senders = [
    "sender", "author", "user", "userprofile", "from", "createdby", "creator", "profile", "poster", "writer",
    "participation", "participant", "membership", "member", "account", "person",
  ]
  /// Who a message is for, where its own row says it; the first three also at the end of a name.
  private static let recipients = [
    "recipient", "receiver", "addressee", "to", "touser", "toprofile", "tomember", "toaccount", "toperson", "whisperto",
    "visibleto", "visibletouser", "directedto", "targetuser", "foruser", "privateto", "sentto",
  ]
  /// Whether a column is called like somebody whom a message is for.
  static func isRecipient(_ column: HostColumn) -> Bool {
    let key = NameKey(column: NameKey(column.name).text).text
    return recipients.contains(key) || recipients.prefix(3).contains { key.hasSuffix($0) }
  }
  /// How columns begin that name other users than the sender.
  static let notSenders = [
    "to", "reply", "deleted", "last", "locked", "edited", "updated", "parent", "target", "mentioned",
    "approved", "assigned", "pinned", "moderated", "reported", "reviewed", "read", "seen", "quoted", "forwarded",
  ]
  /// Parts of the names of texts that are no message's.
  static let notBodies = [
    "url", "type", "status", "title", "subject", "lang", "locale", "mail", "ip", "hash", "token", "key", "mime", "file",
    "path", "slug", "state",
    "kind", "agent", "name", "emoji", "color", "code", "meta", "nonce",
  ]
  static let created = [
    "createdat", "createat", "insertedat", "sentat", "datesent", "writtenat", "postedat", "created", "timecreated",
    "timestamp", "time", "date",
  ]
  static let kinds = ["messagetype", "messagekind", "kind", "type", "eventtype"]

  // Columns of participants.
  static let memberColumns = [
    "user", "userprofile", "profile", "member", "participant", "messageable", "participantable", "person", "account",
  ]
  static let pairs = [
    "user1", "user2", "userone", "usertwo", "usera", "userb", "firstuser", "seconduser", "participant1", "participant2",
    "participanta", "participantb", "member1", "member2", "buyer", "seller",
  ]
  static let notMembers = [
    "createdby", "creator", "owner", "updatedby", "deletedby", "closedby", "archivedby", "lastsender", "lastauthor",
  ]
  static let looks = [
    "lastseen", "lastseenat", "lastviewedat", "lastviewed", "lastvisitedat", "lastopenedat", "lookedat", "seenat",
    "lastreadat",
    "lastread", "readat", "readuntil",
  ]
  static let reads = ["lastreadat", "lastread", "readat", "readuntil"]
  static let readMessages = ["lastreadmessage", "lastreadid", "lastseenmessage", "readmessage"]
  static let firstUnread = ["unreadat", "unreadsince", "firstunreadat"]
  static let unread = ["unread", "unreadcount", "unreadmessages", "unreadmessagecount", "unseencount"]
  /// What members want rather than whether they are some.
  static let wishes = ["notif", "mute", "silenc", "snooz", "hidden", "archiv"]

  // What was read.
  static let reading = ["read", "receipt", "seen", "marker", "cursor", "recipient", "status", "delivery"]
  static let readers = ["readby", "seenby", "readers", "readbyids", "seenbyids", "readbyusers"]
  static let readFlags = ["isread", "read", "readat", "isseen", "seen", "seenat", "readon", "viewedat", "hasread"]

  // Columns of users.
  static let names = [
    "displayname", "fullname", "name", "username", "nickname", "nick", "handle", "login", "firstname",
  ]
  static let wholeNames: Set<String> = ["displayname", "fullname", "name"]
  static let firstNames = ["firstname", "givenname", "forename"]
  static let lastNames = ["lastname", "familyname", "surname"]
  static let zones = ["timezone", "tz", "zone"]
  static let existing = ["active", "isactive", "enabled"]

  // Columns of devices.
  static let tokens = ["devicetoken", "apnstoken", "apnsdevicetoken", "pushtoken", "iostoken"]
  static let vagueTokens = ["token", "deviceid", "registrationid"]
  static let platforms = ["platform", "os", "devicetype", "kind", "type", "provider"]
  static let apps = ["app", "appid", "bundleid", "bundle", "iosappid", "apnstopic"]
  static let environments = ["environment", "apnsenvironment"]
  static let sandboxes = ["sandbox", "issandbox"]
  static let registered = [
    "registeredat", "lastupdated", "updatedat", "updateat", "refreshedat", "createdat", "createat", "lastseen",
  ]
  static let invalid = ["invalidatedat", "revokedat", "disabledat", "deletedat"]
}

extension HostTable {
  /// The column with the first of these names that is one, whatever its case and punctuation.
  func column(among words: [String], where fits: (HostColumn) -> Bool) -> HostColumn? {
    for word in words {
      if let column = columns.first(where: { NameKey.plain($0.name) == word && fits($0) }) { return column }
    }
    return nil
  }

  /// The column with the first of these names as a reference.
  func reference(among words: [String], where fits: (HostColumn) -> Bool) -> HostColumn? {
    let ranked = columns.filter(fits).compactMap { column in
      NameKey(column: column.name).rank(among: words).map { (rank: $0, column: column) }
    }
    return ranked.min { $0.rank < $1.rank }?.column
  }

  /// Whether its name says that it is something else.
  var isAside: Bool {
    let words = Set(NameKey.words(of: name))
    let whole = NameKey(name).text
    return HostWords.others.contains { other in
      words.contains(other)
        || other.count > 4 && (whole.hasSuffix(other) || words.contains { $0.hasPrefix(other) })
    }
  }
}
