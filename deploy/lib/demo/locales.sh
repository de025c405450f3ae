# shellcheck shell=bash
# shellcheck disable=SC2154 # variables are shared with the scripts that source this
# The locales of the demo: four devices of one user get one event, each in its language. Sourced after ritual.sh.

create_locales_scene() { sql tacet -f "$checkout/deploy/lib/demo/locales.sql" >/dev/null; }

# ines_device NUMBER: the token of one of Ines's devices.
ines_device() {
  sql tacet -v number="$1" <<<"select encode(sha256(convert_to(id::text || :'number', 'UTF8')), 'hex') from public.profiles where name = 'Ines'"
}

# order COUNT: an order of so many items. Waits until it is decided, and leaves its id in subject.
order() {
  subject=$(sql app -v count="$1" <<<"insert into public.orders (buyer_id, seller_id, item_count)
    select b.id, s.id, :count from public.profiles b, public.profiles s where b.name = 'Ines' and s.name = 'Jana' returning id")
  is_none_within 10 "select count(*) from public.orders o where o.id = '$subject'
    and not exists (select from tacet.push_log l where l.subject_id = o.id)" || true # what is missing shows as a difference
  load_pushes
}

# shown_on NUMBER: title and body of the order on that device; isolates show as < and >.
shown_on() {
  sql tacet -F ' | ' -v token="$(ines_device "$1")" -v id="$subject" <<<"
    select translate(a ->> 'title', u&'\2068\2069', '<>'), a ->> 'body'
    from demo.pushes p, lateral (select p.payload::jsonb #> '{aps,alert}') x (a)
    where p.token = :'token' and p.collapse_id = :'id'"
}

play_locales() {
  local user subject number=0 locale
  headline 'Languages: one event on four devices of Ines'
  user=$(sql tacet <<<"select id from public.profiles where name = 'Ines'")
  for locale in de-AT pl ar-EG ja; do
    number=$((number + 1))
    as_user "$user" PUT "/v1/devices/$(ines_device "$number")" "{\"environment\": \"production\", \"locale\": \"$locale\"}"
  done
  order 3
  expect 'de-AT: the German text' 'Jana hat deine Bestellung verschickt | 3 Artikel sind unterwegs' "$(shown_on 1)"
  expect 'pl: the form that goes with three' 'Zamówienie od Jana jest w drodze | Jadą 3 rzeczy' "$(shown_on 2)"
  expect 'ar-EG: the Latin name is isolated' 'أرسل <Jana> طلبك | 3' "$(shown_on 3)"
  expect 'ja: nothing near, so the text of the event itself' 'Jana has sent your order | 3 items are on their way' "$(shown_on 4)"
  explain --message "$subject" | sed -n 's/^.*\(accepted the push for device\)/      \1/p'
  order 12
  expect 'pl: the form that goes with twelve' 'Zamówienie od Jana jest w drodze | Jedzie 12 rzeczy' "$(shown_on 2)"
}
