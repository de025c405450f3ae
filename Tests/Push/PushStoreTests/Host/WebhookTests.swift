import Cryptography
import Foundation
import PushRules
import TestIDs
import Testing

@Suite("Webhook of the trigger")
struct WebhookTests {
  /// RFC 4231, section 4: key and data in hexadecimal, then the code. Case 5 is the truncated one.
  static let vectors: [(key: String, data: String, code: String)] = [
    (
      String(repeating: "0b", count: 20), hex("Hi There"),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      hex("Jefe"), hex("what do ya want for nothing?"),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      String(repeating: "aa", count: 20), String(repeating: "dd", count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    ),
    (
      "0102030405060708090a0b0c0d0e0f10111213141516171819", String(repeating: "cd", count: 50),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
    ),
    (
      String(repeating: "aa", count: 131), hex("Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    (
      String(repeating: "aa", count: 131),
      hex(
        "This is a test using a larger than block-size key and a larger than block-size data. "
          + "The key needs to be hashed before being used by the HMAC algorithm."),
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
    ),
  ]

  @Test("the codes of RFC 4231 come out")
  func vectors() async throws {
    let database = try await TestDatabase.migrated()
    for vector in Self.vectors {
      let code = try await database.sql(
        "select encode(tacet.hmac_sha256('\\x\(vector.data)', '\\x\(vector.key)'), 'hex')")
      #expect(code == vector.code)
    }
  }

  @Test("keys of every length around the block's give what another implementation gives")
  func keyLengths() async throws {
    let database = try await TestDatabase.migrated()
    let lengths = [0, 1, 32, 63, 64, 65, 127, 128, 129]
    let list = lengths.map(String.init).joined(separator: ",")
    let codes = try await database.sql(
      """
      select encode(tacet.hmac_sha256('data', decode(repeat('5c', n), 'hex')), 'hex')
      from unnest('{\(list)}'::int[]) with ordinality u (n, i) order by i
      """)
    let expected = lengths.map { code("data", key: [UInt8](repeating: 0x5c, count: $0)).map { hex($0) }.joined() }
    #expect(codes.split(separator: "\n").map(String.init) == expected)
  }

  @Test(
    "a signed webhook with the message's id is posted, and its signature holds",
    arguments: [
      ("plain secret", Array("plain secret".utf8)),
      ("whsec_" + Data("a key of the right sort".utf8).base64EncodedString(), Array("a key of the right sort".utf8)),
      ("whsecXnot-base64", Array("whsecXnot-base64".utf8)), ("ключ", Array("ключ".utf8)),
    ])
  func signed(_ secret: String, _ key: [UInt8]) async throws {
    let chat = try await Chat()
    try await makeNet(in: chat.database)
    try await configure(chat.database, secret: secret)
    let message = try await chat.send()
    let post = try await chat.database.sql(
      """
      select url, body, headers->>'content-type', headers->>'webhook-id', headers->>'webhook-timestamp',
        headers->>'webhook-signature', abs(extract(epoch from now()) - (headers->>'webhook-timestamp')::bigint) < 60
      from net.posts
      """
    ).split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    try #require(post.count == 7)
    #expect(post[0] == "https://push.example/v1/webhooks/messages")
    #expect(post[1] == "{\"message_id\": \"\(message.text)\"}")
    #expect(post[2] == "application/json")
    #expect(post[3].wholeMatch(of: /msg_[0-9a-f]{32}/) != nil)
    #expect(post[5] == "v1," + Data(code("\(post[3]).\(post[4]).\(post[1])", key: key)).base64EncodedString())
    #expect(post[6] == "t")
  }

  @Test("one webhook a statement, for the first of its messages")
  func oncePerStatement() async throws {
    let chat = try await Chat()
    try await makeNet(in: chat.database)
    try await configure(chat.database)
    try await chat.database.sql(
      """
      insert into messages (conversation_id, from_id) select '\(chat.id)', '\(chat.sender)' from generate_series(1, 5)
      """)
    #expect(try await chat.database.sql("select count(*) from net.posts") == "1")
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "5")
  }

  @Test(
    "without a URL or without a secret nothing is posted",
    arguments: ["webhook_url = null", "webhook_secret = null"])
  func unconfigured(_ change: String) async throws {
    let chat = try await Chat()
    try await makeNet(in: chat.database)
    try await configure(chat.database)
    try await chat.database.sql("update tacet.settings set \(change)")
    try await chat.send()
    #expect(try await chat.database.sql("select count(*) from net.posts") == "0")
    #expect(try await failures(chat.database) == "0")
  }

  @Test("a wake-up that names no message notifies, and posts no webhook")
  func nothingToName() async throws {
    let chat = try await Chat()
    try await makeNet(in: chat.database)
    try await configure(chat.database)
    #expect(try await notifications(of: "select tacet.wake(null)", in: chat.database) == 1)
    #expect(try await chat.database.sql("select count(*) from net.posts") == "0")
    #expect(try await failures(chat.database) == "0")
  }

  @Test("without pg_net a configured URL is no error")
  func withoutNet() async throws {
    let chat = try await Chat()
    try await configure(chat.database)
    try await chat.send()
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "1")
    #expect(try await failures(chat.database) == "0")
  }

  @Test("functions that are not pg_net's are given neither body nor secret")
  func impostor() async throws {
    let chat = try await Chat()
    try await makeNet(in: chat.database)
    try await configure(chat.database)
    try await chat.database.sql(
      "create function net.http_post(url text, body jsonb, headers jsonb) returns bigint language sql as 'select 1'")
    try await chat.send()
    #expect(try await chat.database.sql("select count(*) from net.posts") == "0")
    try await chat.database.sql(
      """
      drop function net.http_post(text, jsonb, jsonb);
      alter extension pg_net drop function net.http_post(text, jsonb, jsonb, jsonb, int)
      """)
    try await chat.send()
    #expect(try await chat.database.sql("select count(*) from net.posts") == "0")
    #expect(try await failures(chat.database) == "0")
  }

  @Test("a webhook that cannot be posted is counted, and loses neither inbox row nor notification")
  func failingPost() async throws {
    let chat = try await Chat()
    try await makeNet(in: chat.database)
    try await configure(chat.database)
    try await chat.database.sql("alter table net.posts add check (url = 'nothing')")
    #expect(try await notifications(of: chat.insertion(of: HostID.new()), in: chat.database) == 1)
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "1")
    #expect(try await chat.database.sql("select sqlstate from tacet.trigger_failures") == "23514")
  }

  @Test("a secret that is no base64 is counted, and loses neither inbox row nor notification")
  func badSecret() async throws {
    let chat = try await Chat()
    try await makeNet(in: chat.database)
    try await configure(chat.database, secret: "whsec_%%%")
    #expect(try await notifications(of: chat.insertion(of: HostID.new()), in: chat.database) == 1)
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "1")
    #expect(try await failures(chat.database) == "1")
    #expect(
      try await chat.database.sql("select count(*) from tacet.trigger_failures where message like '%whsec%'") == "0")
  }

  private func configure(_ database: TestDatabase, secret: String = "secret") async throws {
    try await database.sql(
      """
      update tacet.settings
      set webhook_url = 'https://push.example/v1/webhooks/messages', webhook_secret = '\(secret)'
      """)
  }

  /// The part of pg_net that the trigger calls; it keeps what it is given.
  private func makeNet(in database: TestDatabase) async throws {
    try await database.sql(
      """
      create schema net;
      create table net.posts (id bigserial, url text, body jsonb, headers jsonb);
      create function net.http_post(
        url text, body jsonb default '{}', params jsonb default '{}', headers jsonb default '{}',
        timeout_milliseconds int default 5000
      ) returns bigint language sql as $$
        insert into net.posts (url, body, headers)
        values (http_post.url, http_post.body, http_post.headers) returning id
      $$;
      set allow_system_table_mods = on;
      insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
      values (4000000000, 'pg_net', 10, 'net'::regnamespace, false, '0.0');
      alter extension pg_net add function net.http_post(text, jsonb, jsonb, jsonb, int);
      """)
  }

  private func code(_ text: String, key: [UInt8]) -> [UInt8] {
    HMACSHA256(key: key).code(for: Array(text.utf8)).bytes
  }
}

private func hex(_ text: String) -> String { text.utf8.map { hex($0) }.joined() }

private func hex(_ byte: UInt8) -> String {
  let digits = String(byte, radix: 16)
  return digits.count == 1 ? "0" + digits : digits
}
