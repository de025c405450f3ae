extension HostSample {
  /// No application of its own, but how small ones often look: a conversation names both users, and users have one token.
  package static let marketplace = HostSample(
    testDescription: "a marketplace's chat",
    tables: """
      create table users (id uuid primary key, name text, push_token text);
      create table listings (id uuid primary key, seller_id uuid references users, title text);
      create table conversations (
        id uuid primary key, listing_id uuid references listings, buyer_id uuid not null references users,
        seller_id uuid references users
      );
      create table messages (
        id uuid primary key default gen_random_uuid(), conversation_id uuid not null references conversations,
        sender_id uuid not null references users, content text, created_at timestamptz not null default now(), is_system boolean
      )
      """,
    mapping: """
      messages public.messages
      conversation conversation_id
      sender sender_id
      text content
      written created_at
      only is_system is not true
      members public.conversations
      conversation id
      user buyer_id
      user seller_id
      read none
      users public.users
      id id
      name name
      devices public.users
      user id
      token push_token
      dead clear
      """,
    people: """
      insert into users values ('\(ann)', 'Ann', null), ('\(bob)', 'Bob', '$token');
      insert into conversations values ('\(room)', null, '\(ann)', '\(bob)')
      """,
    reader: bob,
    message: """
      insert into messages (conversation_id, sender_id, content) values ('\(room)', '\(ann)', 'Hello') returning id
      """,
    note: """
      insert into messages (conversation_id, sender_id, content, is_system) values ('\(room)', '\(ann)', 'sold', true)
      """,
    conversation: room, hasRegistrationTimes: false, shown: ("Ann", "Hello"))

  private static let ann = "00000000-0000-4000-8000-0000000000a1"
  private static let bob = "00000000-0000-4000-8000-0000000000b1"
  private static let room = "00000000-0000-4000-8000-0000000000c1"
}
