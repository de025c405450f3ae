-- Which rows of a host are not to be pushed, by the names of its columns: the one list, by which tacet.fitted fits the defaults to a
-- host and tacet init writes its file. tacet init runs the bodies of these functions before there are any, so they read catalogs alone.

-- The columns of the host's tables that say that a row is hidden.
--
-- tables: names in schema public; empty for all tables, which takes a second for some thousand columns.
-- place: what the table would have to hold: message, member, profile or block. before, after: what stands before and behind the
-- column in a condition that is true of rows that may be pushed, and is never null; null where the column looks like one that hides
-- and is not understood. words: the same for people, behind the column's name. is_wish: whether a member still takes part, and only
-- wants no push.
--
-- In a rule, fits says which types it reads: flag, time, number, word or any; of enumerations those that have such a word. test: off and
-- on for flags; unset and set; past for times that have to be, null_past and null_future where null will do; zero for numbers; else a
-- pattern of words that hide.
--
-- Words are as hosts write them: system, draft and so on at the beginning of the kind of a message. A status that says how far a
-- message has come (pending, sent, read) hides nothing: it is inserted with the first of them. What users write themselves into
-- columns of such names (a status, a state of a country) hides nobody: of users only whole words count.
--
-- is_active and its like say of most hosts that a member or an account has not ended, and is true by default; of others that a user
-- is online just now, and is false by default. So they hide nothing where they are false by default; but a user's active alone does,
-- which is false until an account is activated.
create or replace function tacet.hidden_rows(tables text[])
returns table (relation oid, place text, column_name text, before text, after text, words text, is_wish boolean)
language sql stable
as $$
  with rules (places, names, fits, test, is_wish) as (
    values
      ('message member profile block', '((is|was|has_?been)?(deleted|removed|discarded|trashed|retracted|recalled|unsent|withdrawn))',
        'flag', 'off', false),
      ('message member profile block',
        '(deleted?|deletion|removed?|discarded|trashed|retracted|recalled|unsent|withdrawn|revoked)(at|on|time|date)?', 'time',
        'unset', false),
      ('message member profile block', '(deleted?|removed?)(at|time)', 'number', 'zero', false),
      ('message', '(deleted|removed|hidden|retracted)by(user|profile|member|account|admin)?(id)?', 'any', 'unset', false),
      ('message', '(is)?(private|internal|whisper|system|systemmessage|service|servicemessage|draft|scheduled|hidden|invisible|'
        'spam|blocked|shadow|shadowbanned|rejected|archived|note|privatenote|internalnote|staff|staffnote)',
        'flag', 'off', false),
      ('message', '(is|for)?(staff|admin|agent|moderator|mod|team)s?only', 'flag', 'off', false),
      ('message', '(is)?(published|visible|approved)', 'flag', 'on', false),
      ('message',
        '(scheduled?|publish|deliver|release|visible|available|embargo(ed)?)(at|for|from|on|after|until|time|date)|send(at|on|after)',
        'time', 'null_past', false),
      ('message', 'published(at|on)', 'time', 'past', false),
      ('message block', 'expir(es|ed|e|ing|y|ation)(at|on|time|date)?', 'time', 'null_future', false),
      ('message', '(hidden|archived|blocked|rejected)(at|on)', 'time', 'unset', false),
      ('message', '(message)?(type|kind|subtype|category)|eventtype|(sender|author|from)(type|kind|role)|role', 'word',
        'system|draft|internal|staff|whisper|scheduled|audit|private_?note|'
        '(activity|event|notice|service|notification|notif|note|log)s?([ _-]?(message|log|entry|private|internal|system)s?)?$', false),
      ('message', '(message|post|publish|publication|workflow|record)?(status|state)', 'word',
        'draft|schedul|unpublish|embargo|delet|remov|hidden|spam|reject|block|flag|private|internal|staff|archiv|trash|cancel|'
        'retract|recall|withdr', false),
      ('message', '(moderation|approval|review)(status|state)?', 'word',
        'pending|wait|held|hold|review|queue|draft|delet|remov|hidden|spam|reject|block|flag|denied|disapprov|unapprov', false),
      ('message', 'visib(ility|leto)|audience|scope|access', 'word',
        'private|internal|staff|hidden|draft|admin|mod|agent|team|whisper|self|me$|only|none|sender|author|nobody', false),
      ('member', '(left|leave|kicked|expelled|banned|blocked|suspended|deactivated|declined|rejected|revoked|ended|exited)(at|on)',
        'time', 'unset', false),
      ('member', '(left|leave|kicked|banned|deactivated)at', 'number', 'zero', false),
      ('member', '(is|has)?(left|kicked|expelled|banned|blocked|suspended|deactivated|pending|invited|declined|rejected|inactive|former)',
        'flag', 'off', false),
      ('member', '(is|has)?(accepted|confirmed|approved|joined|member)', 'flag', 'on', false),
      ('member', '(is|has)?(useractive|active)', 'flag', 'active', false),
      ('member', '(accepted|confirmed|approved)(at|on)', 'time', 'set', false),
      ('member', '(membership|member|participant|invite|invitation|join)?(status|state)|membership', 'word',
        'left|leav|remov|delet|kick|ban|block|invit|pending|request|reject|declin|inactive|suspend|archiv|former|expel|knock|none', false),
      ('member', '(member|membership)?(role|type)', 'word', 'left|remov|delet|kick|ban|block|invit|pending|former|request|none', false),
      ('member profile', '(banned|blocked|suspended|silenced)(until|till|expiresat|to)', 'time', 'null_past', false),
      ('member profile', '((is)?notifications?)?(is)?(muted|snoozed|silenced|disabled)|donotdisturb|(is)?dnd|(is)?silent|mutes?(all)?|'
        '(notifications?|push)(muted|off|disabled|blocked|paused)|(disable|mute|block|no)(push|notifications?)|optedout|pushoptout',
        'flag', 'off', true),
      ('member', '(is)?(archived|hidden|closed)', 'flag', 'off', true),
      ('member', '(is)?(following|subscribed|enabled)', 'flag', 'on', true),
      ('member profile', '(has|is|wants|allows?|receives?|enables?|get)?(push|notify|notifications?|pushnotifications?|alerts?)'
        '(enabled|on|allowed|active|optin|consent)?', 'flag', 'on', true),
      ('member profile', '(notifications?|push)?(muted?|snoozed?|silenced|dnd|donotdisturb|paused?)(until|till|expiresat|to|ends?at)',
        'time', 'null_past', true),
      ('member', '(muted|archived|hidden|silenced)(at|on|since)', 'time', 'unset', true),
      ('member', '(push)?notif(y|ications?)(level|mode|settings?|preferences?|status|type|state)?',
        'word', 'none|never|off|mute|nothing|disabled|silent|no$|false|0$', true),
      ('profile', '(is)?(banned|blocked|suspended|disabled|deactivated|inactive|closed|shadowbanned)', 'flag', 'off', false),
      ('profile', '(account)?(active|enabled|useractive)', 'flag', 'on', false),
      ('profile', 'is(active|enabled|useractive)', 'flag', 'active', false),
      ('profile', '(deactivated|disabled|banned|blocked|suspended|closed|archived)(at|on)', 'time', 'unset', false),
      ('profile', '(deactivated|disabled|banned|blocked|suspended)at', 'number', 'zero', false),
      ('profile', '(account|user|member)?(status|state)',
        'word', '((soft|hard|self|pending)[ _-]?)?(delet|remov|bann?|block|suspend|deactivat|disabl|clos|archiv|lock|terminat)(e|ed|ion)?'
        '(_[a-z_]+)?$', false)
  ), columns as (
    select
      c.oid, a.attname::text as name, lower(regexp_replace(a.attname, '[^A-Za-z0-9]', '', 'g')) as plain, a.attnum,
      coalesce(b.typname, t.typname) as type,
      (select array_agg(e.enumlabel::text) from pg_enum e where e.enumtypid = coalesce(b.oid, t.oid)) as labels,
      case
        when coalesce(b.typname, t.typname) = 'bool' then 'flag'
        when coalesce(b.typname, t.typname) in ('timestamptz', 'timestamp', 'date') then 'time'
        when coalesce(b.typcategory, t.typcategory) = 'N' and coalesce(b.typname, t.typname) <> 'oid' then 'number'
        when coalesce(b.typcategory, t.typcategory) in ('S', 'E') then 'word'
      end as fits,
      a.atthasdef and (
        select pg_get_expr(d.adbin, d.adrelid) = 'false' from pg_attrdef d where d.adrelid = c.oid and d.adnum = a.attnum
      ) as is_false_first
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    left join pg_type b on b.oid = t.typbasetype
    where ($1 = '{}' or n.nspname = 'public' and c.relname = any ($1))
      and c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^(pg_|information_schema$|tacet)'
  ), understood as (
    select distinct on (c.oid, p.place, c.attnum)
      c.oid, p.place, c.attnum, c.name, c.plain, r.is_wish,
      case
        when r.test = 'active' then 'on'
        when r.test = 'null_future' and c.type = 'date' then 'null_today'
        else r.test
      end as test,
      case
        when c.type = 'timestamp' and r.test in ('past', 'null_past', 'null_future') then ' at time zone ''UTC'''
        when r.fits = 'word' then '::text'
        else ''
      end as cast_as
    from columns c
    join rules r on r.fits in (c.fits, 'any') and c.plain ~ ('^(' || r.names || ')$')
      and not (r.test = 'active' and c.is_false_first)
      and (c.labels is null or exists (select from unnest(c.labels) as l (label) where l.label ~* ('^(' || r.test || ')')))
    cross join lateral unnest(string_to_array(r.places, ' ')) as p (place)
    order by c.oid, p.place, c.attnum, r.is_wish, r.test
  )
  select
    u.oid, u.place, u.name,
    case when u.test in ('off', 'on', 'unset', 'set') then '' else 'coalesce(' end,
    u.cast_as || case u.test
      when 'off' then ' is not true'
      when 'on' then ' is not false'
      when 'unset' then ' is null'
      when 'set' then ' is not null'
      when 'zero' then ', 0) = 0'
      when 'past' then ' <= now(), false)'
      when 'null_past' then ' <= now(), true)'
      when 'null_future' then ' > now(), true)'
      when 'null_today' then ' >= current_date, true)'
      else format(', '''') !~* %L', '^(' || u.test || ')')
    end,
    case u.test
      when 'off' then 'is not true'
      when 'on' then 'is true'
      when 'unset' then 'is not set'
      when 'set' then 'is set'
      when 'zero' then 'is not set'
      when 'past' then 'is over'
      when 'null_past' then 'is over or not set'
      when 'null_future' then 'is not over'
      when 'null_today' then 'is not over'
      else case when u.plain ~ '(type|kind|category|role)$' then 'is no system kind' else 'hides nothing' end
    end,
    u.is_wish
  from understood u
  union all
  select c.oid, p.place, c.name, null, null, null, null
  from columns c
  cross join (
    values
      ('message', 'delet|remov|draft|sched|publish|hidden|visib|private|internal|staff|system|spam|moderat|approv|^(is)?(banned|blocked)|'
        '^(status|state)$|reject|archiv|trash|whisper|recipient|receiver|secret|confid|shadow|recall|retract|redact|embargo|expir|ephemeral|flagged'),
      ('member', 'delet|remov|^left|^leave|kick|banned|block|mute|silenc|notif|invit|pending|^(status|state)$|suspend|archiv|active$|snooz|'
        'hidden|accept|approv|enabled|disabled'),
      ('profile', 'delet|remov|activ(e|ated)|enabled|disabled|banned|block|suspend|^(status|state)$|notif|mute|dnd|disturb|snooz|lockedat|'
        'closed')
  ) as p (place, stems)
  where c.plain ~ p.stems and c.labels is null and not exists (
    select from understood u where u.oid = c.oid and u.place = p.place and u.attnum = c.attnum)
$$;

-- Tables that say whom a user does not want to hear from: a name with block, mute or ignore, and two columns.
--
-- blocker_column, blocked_column: null where the table is called so and its columns are not understood.
create or replace function tacet.block_tables()
returns table (relation oid, table_name text, blocker_column text, blocked_column text)
language sql stable
as $$
  select c.oid, format('%I.%I', n.nspname, c.relname), x.blocker, x.blocked
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  cross join lateral (
    select
      min(a.name) filter (where a.is_blocker) as blocker, count(*) filter (where a.is_blocker) as blockers,
      min(a.name) filter (where a.is_blocked) as blocked, count(*) filter (where a.is_blocked) as blockeds
    from (
      select
        t.attname::text as name,
        p.plain ~ '^(user|profile|member|account|person|owner|creator|createdby|from|by|source|subject)?('
            '(blocker|muter|ignorer)|(blocked|muted|ignored)by|(blocking|muting|ignoring))?(user|profile|member|account)?(uu)?(id)?$'
          and p.plain !~ '^(uu)?(id)?$' as is_blocker,
        p.plain ~ '^(user|profile|member|account|person)?(blocked|muted|ignored|blockee|target|other|to)'
            '(user|profile|member|account|person)?(uu)?(id)?$' as is_blocked
      from pg_attribute t
      cross join lateral lower(regexp_replace(t.attname, '[^A-Za-z0-9]', '', 'g')) as p (plain)
      where t.attrelid = c.oid and t.attnum > 0 and not t.attisdropped
        and t.atttypid in ('uuid'::regtype, 'int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'text'::regtype, 'varchar'::regtype)
    ) a
  ) counted
  cross join lateral (
    select
      case when counted.blockers = 1 and counted.blockeds = 1 then counted.blocker end as blocker,
      case when counted.blockers = 1 and counted.blockeds = 1 then counted.blocked end as blocked
  ) x
  where c.relkind in ('r', 'p', 'v') and not c.relispartition and n.nspname !~ '^(pg_|information_schema$|tacet)'
    and exists (
      select
      from (
        values
          (c.relname, true),
          -- Behind another first word, such as the name of an application or person, the columns have to say it too.
          (regexp_replace(c.relname, '^[A-Za-z0-9]+_', ''), x.blocker is not null)
      ) as t (name, is_enough)
      where t.is_enough and lower(regexp_replace(t.name, '[^A-Za-z0-9]', '', 'g'))
        ~ '(^|user|profile|member|account|contact)s?(block(s|ed|list|edlist|edusers?|users?|edmembers?|edprofiles?|edaccounts?)?|'
          'mute(s|dusers?|d)?|ignore(s|dusers?|d)?)$')
$$;

-- Says which columns keep rows of the default tables from being pushed, and which columns and tables look as if they did and are not
-- used. Only of tables that a default reads.
create or replace procedure tacet.tell_hidden_rows()
language plpgsql
as $$
declare
  told text;
begin
  for told in
    with known as (
      select d.name, r.column_name, r.before, r.words
      from (
        values
          ('messages', 'message', 'message_context(tacet.message_id)'),
          ('conversation_participants', 'member', 'seen_by(tacet.conversation_id)'),
          ('profiles', 'profile', 'takes_pushes(tacet.user_id)')
      ) as d (name, place, reader)
      join tacet.hidden_rows('{messages,conversation_participants,profiles}') r
        on r.relation = to_regclass('public.' || d.name) and r.place = d.place
      join pg_proc p on p.oid = to_regprocedure('tacet.' || d.reader)
      where tacet.is_default(p.oid) and p.prosrc !~ '-- inert$'
    ), blocks as (
      select b.table_name, strpos(p.prosrc, 'from ' || b.table_name || ' b ') > 0 as is_used
      from tacet.block_tables() b
      join pg_proc p on p.oid = to_regprocedure('tacet.has_blocked(tacet.user_id, tacet.user_id)')
      where tacet.is_default(p.oid)
    )
    select format(
      'rows of public.%s take part in pushes where %s', k.name,
      string_agg(format('%I %s', k.column_name, k.words), ', ' order by k.column_name))
    from known k
    where k.before is not null
    group by k.name
    union all
    select format('%s keeps senders from users; a role of the service needs select on it', b.table_name) from blocks b where b.is_used
    union all
    select format('%s is not used; if it hides rows, replace the function that reads them (db/CONTRACT.md)', n.name)
    from (
      select format('public.%I.%I', k.name, k.column_name) as name from known k where k.before is null
      union all
      select b.table_name from blocks b where not b.is_used
    ) n
  loop
    raise notice 'tacet: %', told;
  end loop;
end
$$;
