import Foundation
import Simulators
import Testing

@Suite("Devices in several locales", .serialized)
struct LocaleTests {
  /// A table of orders with a watched kind, and targets that bring their locale.
  private static let tables = """
    create table public.orders (id uuid primary key default gen_random_uuid(), buyer_id uuid, item_count int);
    create function public.order_recipients(subject_id uuid) returns setof uuid language sql stable as
      'select o.buyer_id from public.orders o where o.id = subject_id';
    create or replace function tacet.push_targets(user_id uuid)
    returns table (channel text, address text, environment text, app text, keys text) language sql stable as $$
      select 'apns', d.device_token, d.environment, d.app, json_build_object('locale', d.locale)::text
      from public.push_tokens d where d.user_id = push_targets.user_id and d.invalidated_at is null
      union all
      select t.channel, t.address, null, t.app, (coalesce(t.keys, '{}')::jsonb || jsonb_build_object('locale', t.locale))::text
      from tacet.targets t where t.user_id = push_targets.user_id and t.dropped_at is null
    $$;
    """

  private static func watch(_ presentation: String = "{}") -> String {
    """
    select tacet.watch(
      kind => 'order_shipped', source => 'public.orders', recipients => 'public.order_recipients',
      title => 'Your order is on its way', body => '{item_count} items', presentation => '\(presentation)');
    select tacet.localise(
      'order_shipped', 'de', 'Deine Bestellung ist unterwegs', '{item_count} Artikel');
    select tacet.localise(
      'order_shipped', 'pl', 'Zamówienie w drodze', '{item_count} sztuk', counted => 'item_count',
      plural => '{"one": {"body": "{item_count} sztuka"}, "few": {"body": "{item_count} sztuki"}}')
    """
  }

  private func order(_ count: Int, for user: String, in scene: ServiceScene) async throws -> String {
    try await scene.sql("insert into orders (buyer_id, item_count) values ('\(user)', \(count)) returning id")
  }

  @Test("one event is in the language of each of a user's devices, and its explanation says why")
  func devices() async throws {
    try await ServiceScene.play { scene, _ in
      let person = Conversation.Person(devices: (0..<4).map { _ in Conversation.newToken() })
      let user = try await Conversation(scene, [person]).people[0]
      for (token, locale) in zip(person.devices, ["de-AT", "pl", "fr", "no locale!"]) {
        try await scene.sql("update push_tokens set locale = '\(locale)' where device_token = '\(token)'")
      }
      try await scene.sql(Self.tables)
      try await scene.sql(Self.watch())
      let subject = try await order(3, for: user, in: scene)
      let pushes = try await scene.pushes(of: subject, atLeast: 4)
      let shown = person.devices.map { token in pushes.first { $0.token == token }?.payload ?? "" }
      #expect(shown[0].contains(#""title":"Deine Bestellung ist unterwegs","body":"3 Artikel""#))
      #expect(shown[1].contains(#""title":"Zamówienie w drodze","body":"3 sztuki""#))
      #expect(shown[2...].allSatisfy { $0.contains(#""title":"Your order is on its way","body":"3 items""#) })
      #expect(try await scene.ledger(of: subject, rows: 1) == [user: "sent "])
      let text = try await scene.explain(subject)
      func sentence(_ number: Int) -> String { "accepted the push for device \(person.devices[number].prefix(8))" }
      #expect(text.contains("\(sentence(0)), in de, since the device asks for de-AT"))
      #expect(text.contains("\(sentence(1)), in pl, as the device asks"))
      #expect(text.contains("\(sentence(2))\n"))
      let noted = """
        select count(*) from tacet.push_log l, jsonb_array_elements(l.history) e, jsonb_array_elements(e -> 'attempts') a
        where a ? 'locale' and l.subject_id = '\(subject)'
        """
      #expect(try await scene.sql(noted) == "2", "the event's own words are not noted")

      try await scene.sql("select tacet.unlocalise('order_shipped')")
      let plain = try await scene.pushes(of: try await order(1, for: user, in: scene), atLeast: 4)
      #expect(plain.allSatisfy { $0.payload.contains("Your order is on its way") })
    }
  }

  @Test("a browser and an Android phone get their languages, and keys of the app's translations where it has them")
  func channels() async throws {
    try await ChannelScene.play { channels, service in
      let scene = channels.scene
      let conversation = try await Conversation(scene, [.away()])
      let user = conversation.people[0]
      try await channels.subscribe(user, as: "browser", at: service)
      try await channels.register(user, at: service)
      try await scene.sql(Self.tables + "update tacet.targets set locale = 'de-CH'")
      try await scene.sql(
        Self.watch(#"{"title_loc_key": "SHIPPED", "title_loc_args": ["{item_count}"], "loc_key": "ITEMS"}"#))
      let subject = try await order(2, for: user, in: scene)
      let push = try #require(try await scene.pushes(of: subject, atLeast: 1).first)
      #expect(
        push.payload.hasPrefix(
          #"{"aps":{"alert":{"title-loc-key":"SHIPPED","title-loc-args":["2"],"loc-key":"ITEMS"}"#))
      let shown = try #require(try await channels.browserPushes(atLeast: 1).first?.content)
      #expect(shown.contains(#""title":"Deine Bestellung ist unterwegs""#) && shown.contains(#""body":"2 Artikel""#))
      #expect(shown.contains(#""lang":"de""#))
      try #require(await channels.android.waitForMessages(1, within: .seconds(20)))
      let sent = try #require(channels.android.service.messages.first)
      #expect(sent.status == 200 && sent.isNotification)
      #expect(
        sent.payload.contains(#""title_loc_key":"SHIPPED","title_loc_args":["2"],"body_loc_key":"ITEMS""#),
        "\(sent.payload)")
      #expect(!sent.payload.contains("Bestellung"), "Android shows words rather than keys when it gets both")
    }
  }
}
