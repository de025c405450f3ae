/// Which process has claimed what, noted by triggers that only this test has; and leases that run out before their time.
///
/// A killed process's users are free after a minute, its events after half of one (`CampaignPace.lease` and the claims of the
/// inbox, which no setting changes). Nobody can wait for that here, so the test plays the expiry, and only of those who are
/// dead: what the living have claimed stays theirs.
enum ClaimOwners {
  static let creation = """
    create table claim_owners (key text primary key, owner text not null);
    create function note_claim_owner() returns trigger language plpgsql as $$
    begin
      if new.attempts > old.attempts then
        insert into public.claim_owners (key, owner)
        values (
          case tg_table_name
            when 'inbox' then to_jsonb(new) ->> 'subject_id'
            else (to_jsonb(new) ->> 'campaign') || (to_jsonb(new) ->> 'user_id')
          end,
          current_setting('application_name'))
        on conflict (key) do update set owner = excluded.owner;
      end if;
      return null;
    end
    $$;
    create trigger note_claim_owner after update on tacet.campaign_decisions
      for each row execute function note_claim_owner();
    create trigger note_claim_owner after update on tacet.inbox for each row execute function note_claim_owner();
    """

  static func expiry(of names: [String]) -> String {
    let dead = "array[" + names.map { "'\($0)'" }.joined(separator: ", ") + "]::text[]"
    return """
      update tacet.campaign_decisions d set available_at = now()
      from claim_owners o
      where o.key = d.campaign || d.user_id and o.owner = any (\(dead)) and d.decision is null and d.available_at > now();
      update tacet.inbox i set available_at = now()
      from claim_owners o
      where o.key = i.subject_id::text and o.owner = any (\(dead)) and i.available_at > now()
      """
  }
}
