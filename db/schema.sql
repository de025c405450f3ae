-- The schema of an installation with the default host tables, by pg_dump. A test compares it; nothing applies it.

CREATE SCHEMA tacet;

COMMENT ON SCHEMA tacet IS 'Push notifications: inbox, remaining deliveries, host contract. Owned by the Tacet service.';

CREATE TYPE tacet.decided_occasion AS (
	user_id uuid,
	slot text,
	fire_date date,
	fire_at timestamp with time zone,
	version integer,
	attempts integer,
	phase text,
	time_zone text,
	refusal text,
	push_type text,
	title text,
	body text,
	category text,
	data json,
	findings jsonb
);

CREATE TYPE tacet.push_content AS (
	surface_id uuid,
	actor_id uuid,
	dated_at timestamp with time zone,
	life interval,
	quiet_policy text,
	excluded_device text,
	withheld text,
	is_silent boolean,
	content json
);

CREATE TYPE tacet.push_recipient AS (
	user_id uuid,
	last_seen timestamp with time zone,
	left_at timestamp with time zone
);

CREATE TABLE tacet.occasions (
    fire_at timestamp with time zone NOT NULL,
    available_at timestamp with time zone NOT NULL,
    rendered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    cost_microdollars bigint DEFAULT 0 NOT NULL,
    push_id uuid,
    run_id uuid,
    fire_date date NOT NULL,
    input_tokens integer DEFAULT 0 NOT NULL,
    output_tokens integer DEFAULT 0 NOT NULL,
    user_id uuid NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    snoozes smallint DEFAULT 0 NOT NULL,
    has_slot boolean GENERATED ALWAYS AS ((slot <> ''::text)) STORED NOT NULL,
    campaign text NOT NULL,
    slot text DEFAULT ''::text NOT NULL,
    phase text,
    time_zone text NOT NULL,
    status text DEFAULT 'scheduled'::text NOT NULL,
    reason text,
    title text,
    body text,
    category text,
    data json,
    layer text,
    inputs jsonb DEFAULT '{}'::jsonb NOT NULL,
    armed_by text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT occasions_status_check CHECK ((status = ANY (ARRAY['scheduled'::text, 'armed'::text, 'sent'::text, 'delivered'::text, 'opened'::text, 'skipped'::text, 'cancelled'::text, 'failed'::text])))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE tacet.campaigns (
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    local_time time without time zone,
    is_active boolean DEFAULT true NOT NULL,
    is_scheduled boolean DEFAULT true NOT NULL,
    needs_no_session boolean DEFAULT true NOT NULL,
    name text NOT NULL,
    audience text NOT NULL,
    material text NOT NULL,
    on_push text,
    on_action text,
    cap_group text,
    push_types text[] NOT NULL,
    weekdays smallint[] DEFAULT '{1,2,3,4,5,6,7}'::smallint[] NOT NULL,
    definition jsonb NOT NULL,
    CONSTRAINT campaigns_cap_group_check CHECK ((cap_group ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT campaigns_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT campaigns_push_types_check CHECK ((cardinality(push_types) > 0)),
    CONSTRAINT campaigns_weekdays_check CHECK ((weekdays <@ '{1,2,3,4,5,6,7}'::smallint[]))
);

CREATE TABLE tacet.activities (
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    next_push_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    unix_time bigint DEFAULT 0 NOT NULL,
    version integer DEFAULT 0 NOT NULL,
    pushed_version integer,
    is_announced boolean DEFAULT false NOT NULL,
    id text NOT NULL,
    user_id uuid NOT NULL,
    type text NOT NULL,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    state jsonb NOT NULL,
    source_state jsonb,
    end_reason text
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE tacet.activity_types (
    name text NOT NULL,
    attributes jsonb NOT NULL,
    attribute_defaults jsonb DEFAULT '{}'::jsonb NOT NULL,
    state jsonb NOT NULL,
    first_state jsonb DEFAULT '{}'::jsonb NOT NULL,
    end_state jsonb DEFAULT '{}'::jsonb NOT NULL,
    stale_after_start interval,
    stale_after_update interval,
    dismiss_after interval,
    alert_title text NOT NULL,
    alert_body text DEFAULT ''::text NOT NULL,
    priority smallint DEFAULT 5 NOT NULL,
    urgent_per_hour integer DEFAULT 12 NOT NULL,
    CONSTRAINT activity_types_alert_body_check CHECK ((char_length(alert_body) <= 200)),
    CONSTRAINT activity_types_alert_title_check CHECK (((char_length(alert_title) >= 1) AND (char_length(alert_title) <= 100))),
    CONSTRAINT activity_types_attribute_defaults_check CHECK ((jsonb_typeof(attribute_defaults) = 'object'::text)),
    CONSTRAINT activity_types_attributes_check CHECK ((jsonb_typeof(attributes) = 'object'::text)),
    CONSTRAINT activity_types_dismiss_after_check CHECK (((dismiss_after >= '00:00:00'::interval) AND (dismiss_after <= '04:00:00'::interval))),
    CONSTRAINT activity_types_end_state_check CHECK ((jsonb_typeof(end_state) = 'object'::text)),
    CONSTRAINT activity_types_first_state_check CHECK ((jsonb_typeof(first_state) = 'object'::text)),
    CONSTRAINT activity_types_name_check CHECK ((name ~ '^[A-Za-z_][A-Za-z0-9_.]{0,99}$'::text)),
    CONSTRAINT activity_types_priority_check CHECK ((priority = ANY (ARRAY[5, 10]))),
    CONSTRAINT activity_types_stale_after_start_check CHECK (((stale_after_start >= '00:00:01'::interval) AND (stale_after_start <= '08:00:00'::interval))),
    CONSTRAINT activity_types_stale_after_update_check CHECK (((stale_after_update >= '00:00:01'::interval) AND (stale_after_update <= '08:00:00'::interval))),
    CONSTRAINT activity_types_state_check CHECK ((jsonb_typeof(state) = 'object'::text)),
    CONSTRAINT activity_types_urgent_per_hour_check CHECK (((urgent_per_hour >= 0) AND (urgent_per_hour <= 3600)))
);

CREATE TABLE tacet.host_events (
    occurred_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    due_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    first_tried_at timestamp with time zone,
    ended_at timestamp with time zone,
    sent_at timestamp with time zone,
    id bigint NOT NULL,
    webhook_id uuid DEFAULT gen_random_uuid() NOT NULL,
    log_id uuid,
    user_id uuid NOT NULL,
    subject_id uuid,
    attempts integer DEFAULT 0 NOT NULL,
    status integer,
    is_claimed boolean DEFAULT false NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    type text NOT NULL,
    kind text,
    reason text,
    channel text,
    device text,
    error text,
    CONSTRAINT host_events_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'taken'::text, 'cancelled'::text, 'dead'::text])))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000');

CREATE TABLE tacet.watched_activities (
    type text NOT NULL,
    source regclass NOT NULL,
    id_column name NOT NULL,
    user_column name NOT NULL,
    fields jsonb NOT NULL,
    ended_when text NOT NULL
);

CREATE TABLE tacet.notif_contents (
    attempted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    fetched_at timestamp with time zone,
    fresh_until timestamp with time zone,
    fire_date date NOT NULL,
    content_date date,
    user_id uuid,
    campaign text NOT NULL,
    slot text NOT NULL,
    url text,
    etag text,
    failure_code text,
    document jsonb,
    owner text GENERATED ALWAYS AS (COALESCE(('u'::text || (user_id)::text), ''::text)) STORED NOT NULL,
    CONSTRAINT notif_contents_document_check CHECK (((jsonb_typeof(document) = 'object'::text) AND (NOT jsonb_path_exists(document, 'strict $.*?(@.type() != "string")'::jsonpath)))),
    CONSTRAINT notif_contents_slot_check CHECK ((slot ~ '^([01][0-9]|2[0-3])[0-5][0-9]$'::text))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE tacet.pushes (
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    send_at timestamp with time zone,
    expires_in interval,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    user_id uuid NOT NULL,
    kind text NOT NULL,
    title text NOT NULL,
    body text NOT NULL,
    collapse_id text,
    idempotency_key text,
    cancel_key text,
    campaign text,
    cap_group text,
    withheld text,
    excluded_devices text,
    data json,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    presentation jsonb DEFAULT '{}'::jsonb NOT NULL,
    quiet_policy text,
    CONSTRAINT pushes_metadata_check CHECK ((octet_length((metadata)::text) <= 4096)),
    CONSTRAINT pushes_quiet_policy_check CHECK ((quiet_policy = ANY (ARRAY['hold'::text, 'drop'::text])))
);

CREATE TABLE tacet.slots (
    next_fire_at timestamp with time zone,
    available_at timestamp with time zone,
    delivered_at timestamp with time zone,
    fire_date date,
    user_id uuid NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    version integer DEFAULT 0 NOT NULL,
    is_on boolean DEFAULT true NOT NULL,
    is_enabled boolean DEFAULT true NOT NULL,
    is_chosen boolean DEFAULT false NOT NULL,
    campaign text NOT NULL,
    slot text NOT NULL,
    phase text,
    time_zone text NOT NULL,
    weekdays smallint[] DEFAULT '{1,2,3,4,5,6,7}'::smallint[] NOT NULL,
    CONSTRAINT slots_phase_check CHECK ((phase ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT slots_slot_check CHECK ((slot ~ '^([01][0-9]|2[0-3])[0-5][0-9]$'::text)),
    CONSTRAINT slots_weekdays_check CHECK ((weekdays <@ '{1,2,3,4,5,6,7}'::smallint[]))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE public.conversation_participants (
    conversation_id uuid NOT NULL,
    user_id uuid NOT NULL,
    last_seen timestamp with time zone,
    tacet_left_at timestamp with time zone
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

COMMENT ON TABLE public.conversation_participants IS 'Created by tacet migrate --create-host-tables.';

CREATE TABLE public.conversations (
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL
);

COMMENT ON TABLE public.conversations IS 'Created by tacet migrate --create-host-tables.';

CREATE TABLE public.messages (
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    conversation_id uuid NOT NULL,
    from_id uuid NOT NULL,
    text text,
    read_by uuid[] DEFAULT '{}'::uuid[] NOT NULL
);

COMMENT ON TABLE public.messages IS 'Created by tacet migrate --create-host-tables.';

CREATE TABLE public.profiles (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text
);

COMMENT ON TABLE public.profiles IS 'Created by tacet migrate --create-host-tables.';

CREATE TABLE tacet.push_log (
    enqueued_at timestamp with time zone DEFAULT now() NOT NULL,
    claimed_at timestamp with time zone,
    held_until timestamp with time zone,
    sent_at timestamp with time zone,
    opened_at timestamp with time zone,
    woken_microseconds integer,
    decided_microseconds integer,
    accepted_microseconds integer,
    devices_accepted smallint DEFAULT 0 NOT NULL,
    attempts smallint DEFAULT 1 NOT NULL,
    opened boolean DEFAULT false NOT NULL,
    id uuid DEFAULT (encode(set_bit(set_bit(OVERLAY(uuid_send(gen_random_uuid()) PLACING SUBSTRING(int8send((floor((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric)))::bigint) FROM 3) FROM 1 FOR 6), (52)::bigint, 1), (53)::bigint, 1), 'hex'::text))::uuid NOT NULL,
    user_id uuid NOT NULL,
    subject_id uuid,
    push_type text NOT NULL,
    decision text NOT NULL,
    reason text,
    woken_by text,
    content text,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    history jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT push_log_decision_check CHECK ((decision = ANY (ARRAY['sent'::text, 'held'::text, 'skipped'::text, 'failed'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='10000', autovacuum_vacuum_insert_scale_factor='0.02', autovacuum_vacuum_insert_threshold='100000', autovacuum_analyze_scale_factor='0.02', autovacuum_analyze_threshold='10000');

CREATE VIEW public.push_log WITH (security_invoker='true') AS
 SELECT push_log.enqueued_at,
    push_log.claimed_at,
    push_log.held_until,
    push_log.sent_at,
    push_log.opened_at,
    push_log.woken_microseconds,
    push_log.decided_microseconds,
    push_log.accepted_microseconds,
    push_log.devices_accepted,
    push_log.attempts,
    push_log.opened,
    push_log.id,
    push_log.user_id,
    push_log.subject_id,
    push_log.push_type,
    push_log.decision,
    push_log.reason,
    push_log.woken_by,
    push_log.content,
    push_log.metadata,
    push_log.history
   FROM tacet.push_log;

COMMENT ON VIEW public.push_log IS 'Created by tacet migrate.';

CREATE TABLE public.push_tokens (
    user_id uuid NOT NULL,
    device_token text NOT NULL,
    platform text DEFAULT 'ios'::text NOT NULL,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    invalidated_at timestamp with time zone,
    environment text,
    app text,
    invalidation_reason text,
    locale text,
    time_zone text
);

COMMENT ON TABLE public.push_tokens IS 'Created by tacet migrate --create-host-tables.';

CREATE TABLE tacet.activity (
    last_active timestamp with time zone NOT NULL,
    session_began_at timestamp with time zone NOT NULL,
    re_engaged_at timestamp with time zone,
    user_id uuid NOT NULL,
    re_engagement_attempts integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE tacet.activity_start_tokens (
    registered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    user_id uuid NOT NULL,
    type text NOT NULL,
    device_token text NOT NULL,
    token text NOT NULL,
    app text,
    environment text
);

CREATE TABLE tacet.activity_tokens (
    registered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    is_registered boolean DEFAULT false NOT NULL,
    activity_id text NOT NULL,
    device_token text NOT NULL,
    token text NOT NULL,
    app text,
    environment text
);

CREATE TABLE tacet.activity_updates (
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    available_at timestamp with time zone NOT NULL,
    stale_at timestamp with time zone,
    dismiss_at timestamp with time zone,
    unix_time bigint NOT NULL,
    version integer NOT NULL,
    merged integer DEFAULT 0 NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    activity_id text NOT NULL,
    event text NOT NULL,
    priority smallint NOT NULL,
    relevance double precision,
    state jsonb NOT NULL,
    alert jsonb,
    CONSTRAINT activity_updates_event_check CHECK ((event = ANY (ARRAY['start'::text, 'update'::text, 'end'::text]))),
    CONSTRAINT activity_updates_priority_check CHECK ((priority = ANY (ARRAY[5, 10])))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE tacet.announcements (
    event text NOT NULL,
    kinds text[],
    CONSTRAINT announcements_event_check CHECK ((event = ANY (ARRAY['push.unread'::text, 'push.sent'::text, 'push.skipped'::text, 'push.failed'::text, 'device.dropped'::text])))
);

CREATE TABLE tacet.campaign_runs (
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    due_at timestamp with time zone NOT NULL,
    enrolled integer DEFAULT 0 NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    only_user uuid,
    last_user uuid,
    campaign text NOT NULL,
    cause text NOT NULL,
    zones text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT campaign_runs_cause_check CHECK ((cause = ANY (ARRAY['schedule'::text, 'request'::text])))
);

CREATE TABLE tacet.cancellations (
    cancelled_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    cancel_key text NOT NULL,
    CONSTRAINT cancellations_cancel_key_check CHECK (((octet_length(cancel_key) >= 1) AND (octet_length(cancel_key) <= 255)))
);

CREATE TABLE tacet.changed_rows (
    id bigint NOT NULL,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    type text NOT NULL,
    subject_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE tacet.changed_rows ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tacet.changed_rows_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE tacet.conversation_preferences (
    muted_until timestamp with time zone,
    user_id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    is_muted boolean NOT NULL,
    mentions_only boolean NOT NULL
);

CREATE TABLE tacet.default_bodies (
    name text NOT NULL,
    body text NOT NULL
);

CREATE TABLE tacet.deliveries (
    due_at timestamp with time zone NOT NULL,
    enqueued_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    subject_id uuid NOT NULL,
    user_id uuid NOT NULL,
    kind text NOT NULL,
    state text NOT NULL,
    accepted_devices text[] DEFAULT '{}'::text[] NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    held_us bigint DEFAULT 0 NOT NULL,
    conversation_id uuid,
    rescues integer DEFAULT 0 NOT NULL,
    is_claimed boolean DEFAULT false NOT NULL,
    lane text,
    error text,
    retries integer DEFAULT 0 NOT NULL,
    released_at timestamp with time zone,
    released_by text,
    device_waits text,
    CONSTRAINT deliveries_state_check CHECK (((state = ANY (ARRAY['held'::text, 'retryable'::text, 'waiting'::text])) AND ((lane IS NOT NULL) = (state = 'waiting'::text))))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='10000', vacuum_truncate=off, autovacuum_vacuum_cost_delay='0');

CREATE TABLE tacet.device_permissions (
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    user_id uuid NOT NULL,
    tolerance_seconds integer DEFAULT 0 NOT NULL,
    is_denied boolean DEFAULT false NOT NULL,
    device_token text NOT NULL
);

CREATE TABLE tacet.engagement_analyses (
    analysed_at timestamp with time zone NOT NULL,
    period_start timestamp with time zone NOT NULL,
    period_end timestamp with time zone NOT NULL,
    total_users bigint NOT NULL,
    active_users bigint NOT NULL,
    recent_users bigint NOT NULL,
    lapsed_users bigint NOT NULL,
    churn_risk_users bigint NOT NULL,
    sessions bigint NOT NULL,
    session_seconds double precision NOT NULL
);

CREATE TABLE tacet.erasures (
    asked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    due_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    begun_at timestamp with time zone,
    id bigint NOT NULL,
    user_id uuid NOT NULL,
    source regclass,
    is_clean boolean DEFAULT false NOT NULL
);

ALTER TABLE tacet.erasures ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tacet.erasures_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE tacet.escalations (
    after interval NOT NULL,
    kind text NOT NULL,
    CONSTRAINT escalations_after_check CHECK (((after >= '00:00:01'::interval) AND (after <= '7 days'::interval))),
    CONSTRAINT escalations_kind_check CHECK ((kind ~ '^[a-z][a-z0-9_]{0,62}$'::text))
);

CREATE TABLE tacet.frequency_caps (
    committed_day date,
    user_id uuid NOT NULL,
    cap_group text NOT NULL
);

CREATE TABLE tacet.function_files (
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL
);

CREATE TABLE tacet.host_additions (
    relation text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL
);

ALTER TABLE tacet.host_events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tacet.host_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE tacet.inbox (
    available_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    enqueued_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    subject_id uuid NOT NULL,
    kind text NOT NULL,
    conversation_id uuid,
    rescues integer DEFAULT 0 NOT NULL,
    is_claimed boolean DEFAULT false NOT NULL,
    error text,
    told_until uuid
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='10000', vacuum_truncate=off, autovacuum_vacuum_cost_delay='0');

CREATE TABLE tacet.instances (
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    stopped_at timestamp with time zone,
    lease_until timestamp with time zone,
    pid integer NOT NULL,
    id text NOT NULL,
    host text NOT NULL,
    version text NOT NULL
)
WITH (fillfactor='50', vacuum_truncate=off);

CREATE TABLE tacet.kinds (
    source regclass NOT NULL,
    surface_table regclass,
    kind text NOT NULL,
    surface_kind text NOT NULL,
    id_column name NOT NULL,
    update_column name,
    actor_column name,
    surface_column name,
    recipients text NOT NULL,
    condition text NOT NULL,
    title text NOT NULL,
    body text NOT NULL,
    unnamed_actor text NOT NULL,
    placeholders name[] NOT NULL,
    send_at_column name,
    cancel_key text,
    expires_in interval,
    presentation jsonb DEFAULT '{}'::jsonb NOT NULL,
    composer jsonb,
    CONSTRAINT kinds_kind_check CHECK ((kind ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT kinds_surface_kind_check CHECK ((surface_kind ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT kinds_title_check CHECK ((title <> ''::text))
);

CREATE TABLE tacet.migrations (
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    version integer NOT NULL,
    oldest_service integer,
    name text NOT NULL,
    checksum text
);

COMMENT ON COLUMN tacet.migrations.oldest_service IS 'the newest migration that a service beside this one must know; null for any service';

COMMENT ON COLUMN tacet.migrations.checksum IS 'md5 of the file that tacet migrate has applied; null for files applied by psql';

CREATE TABLE tacet.model_texts (
    asked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    day date NOT NULL,
    calls integer DEFAULT 1 NOT NULL,
    user_id uuid NOT NULL,
    question text NOT NULL,
    reply text,
    CONSTRAINT model_texts_question_check CHECK ((octet_length(question) <= 64)),
    CONSTRAINT model_texts_reply_check CHECK ((octet_length(reply) <= 16384))
);

CREATE TABLE tacet.model_usage (
    input_tokens bigint DEFAULT 0 NOT NULL,
    output_tokens bigint DEFAULT 0 NOT NULL,
    reserved_tokens bigint DEFAULT 0 NOT NULL,
    cost_microdollars bigint DEFAULT 0 NOT NULL,
    reserved_microdollars bigint DEFAULT 0 NOT NULL,
    calls bigint DEFAULT 0 NOT NULL,
    day date NOT NULL
);

CREATE TABLE tacet.notif_config (
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    name text NOT NULL,
    value jsonb NOT NULL,
    CONSTRAINT notif_config_check CHECK (
CASE name
    WHEN 'mode'::text THEN (value = ANY (ARRAY['"online_first"'::jsonb, '"offline_first"'::jsonb]))
    WHEN 'prefetchRunner'::text THEN (value = ANY (ARRAY['"none"'::jsonb, '"background-runner"'::jsonb]))
    WHEN 'scheduler'::text THEN (value = '"auto"'::jsonb)
    WHEN 'prefetchLeadMinutes'::text THEN (((value)::text ~ '^[1-9][0-9]{0,3}$'::text) AND (value <= '1440'::jsonb))
    WHEN 'ttlSeconds'::text THEN (((value)::text ~ '^[1-9][0-9]{0,6}$'::text) AND (value <= '1209600'::jsonb))
    WHEN 'runnerRearm'::text THEN (jsonb_typeof(value) = 'boolean'::text)
    WHEN 'iosCategoryIdentifier'::text THEN ((value)::text ~ '^"[A-Za-z0-9_.-]{1,100}"$'::text)
    WHEN 'androidChannelId'::text THEN ((value)::text ~ '^"[A-Za-z0-9_.-]{1,100}"$'::text)
    WHEN 'androidChannelName'::text THEN ((value)::text ~ '^"[^"\\]{1,100}"$'::text)
    WHEN 'imageBaseURL'::text THEN ((value)::text ~ '^"https://[!#-\[\]-~]{1,255}/"$'::text)
    ELSE false
END)
);

CREATE VIEW tacet.notif_deliveries AS
 SELECT occasions.fire_at,
    occasions.available_at,
    occasions.rendered_at,
    occasions.changed_at,
    occasions.push_id,
    occasions.fire_date,
    occasions.user_id,
    occasions.attempts,
    occasions.snoozes,
    occasions.campaign,
    occasions.slot,
    occasions.phase,
    occasions.time_zone,
    occasions.status,
    occasions.reason,
    occasions.title,
    occasions.body,
    occasions.category,
    occasions.data,
    occasions.armed_by
   FROM tacet.occasions
  WHERE (occasions.slot <> ''::text);

CREATE TABLE tacet.notif_events (
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    happened_at timestamp with time zone NOT NULL,
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    code text NOT NULL,
    identifier text,
    device_token text,
    circumstances jsonb
);

CREATE TABLE tacet.parked (
    parked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    enqueued_at timestamp with time zone NOT NULL,
    attempts integer NOT NULL,
    subject_id uuid NOT NULL,
    user_id uuid,
    conversation_id uuid,
    held_us bigint DEFAULT 0 NOT NULL,
    kind text NOT NULL,
    reason text NOT NULL,
    accepted_devices text[] DEFAULT '{}'::text[] NOT NULL
);
ALTER TABLE ONLY tacet.parked REPLICA IDENTITY FULL;

CREATE TABLE tacet.preferences (
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    quiet_start time without time zone,
    quiet_end time without time zone,
    user_id uuid NOT NULL,
    quiet_zone text,
    quiet_policy text,
    content text,
    disabled_kinds text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT preferences_check CHECK ((num_nulls(quiet_start, quiet_end, quiet_policy) = ANY (ARRAY[0, 3]))),
    CONSTRAINT preferences_check1 CHECK ((quiet_start <> quiet_end)),
    CONSTRAINT preferences_quiet_policy_check CHECK ((quiet_policy = ANY (ARRAY['hold'::text, 'drop'::text])))
);

CREATE TABLE tacet.push_kinds (
    name text NOT NULL,
    event_kind text,
    content text NOT NULL,
    audience text NOT NULL,
    CONSTRAINT push_kinds_event_kind_check CHECK ((event_kind ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT push_kinds_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,62}$'::text))
);

CREATE TABLE tacet.read_syncs (
    available_at timestamp with time zone NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    user_id uuid,
    conversation_id uuid,
    has_more boolean DEFAULT false NOT NULL,
    message_ids uuid[] NOT NULL,
    device_token text
)
WITH (fillfactor='70', vacuum_truncate=off);

CREATE TABLE tacet.releases (
    queued_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    id bigint NOT NULL,
    subject_id uuid NOT NULL,
    user_id uuid NOT NULL,
    cause text NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000', vacuum_truncate=off);

ALTER TABLE tacet.releases ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tacet.releases_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE tacet.row_texts (
    asked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    user_id uuid,
    subject_id uuid NOT NULL,
    kind text NOT NULL,
    body text,
    CONSTRAINT row_texts_body_check CHECK ((char_length(body) <= 4096))
);

CREATE TABLE tacet.schedules (
    run_at timestamp with time zone,
    told_at timestamp with time zone,
    user_id uuid NOT NULL
);

CREATE TABLE tacet.settings (
    is_only_row boolean DEFAULT true NOT NULL,
    notify_enabled boolean DEFAULT true NOT NULL,
    webhook_url text,
    webhook_secret text,
    listening_until timestamp with time zone,
    database_identity text,
    offered_campaigns text[] DEFAULT '{}'::text[] NOT NULL,
    has_webhook_secret boolean GENERATED ALWAYS AS ((webhook_secret IS NOT NULL)) STORED,
    CONSTRAINT settings_is_only_row_check CHECK (is_only_row)
)
WITH (fillfactor='50');

COMMENT ON COLUMN tacet.settings.notify_enabled IS 'false for a host that uses PREPARE TRANSACTION, which refuses transactions that have notified';

COMMENT ON COLUMN tacet.settings.webhook_url IS 'where triggers post a signed webhook when pg_net is installed; null posts nothing';

COMMENT ON COLUMN tacet.settings.webhook_secret IS 'the service''s WEBHOOK_SECRET: whsec_<base64>, or plain text';

COMMENT ON COLUMN tacet.settings.listening_until IS 'until when a service has said that it listens; kept by the service, null when none ever did';

COMMENT ON COLUMN tacet.settings.database_identity IS 'the database that this row was written in; tacet serve refuses to start in another one until tacet adopt';

COMMENT ON COLUMN tacet.settings.offered_campaigns IS 'the campaigns of db/campaigns that were inserted; one that an operator has removed does not come back';

CREATE TABLE tacet.shards (
    taken_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    shard integer NOT NULL,
    owner text
)
WITH (fillfactor='50', vacuum_truncate=off);

CREATE TABLE tacet.surface_views (
    last_seen timestamp with time zone,
    left_at timestamp with time zone,
    surface_id uuid NOT NULL,
    user_id uuid NOT NULL,
    surface_kind text NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='1000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='10000', vacuum_truncate=off);

CREATE TABLE tacet.target_wishes (
    channel text NOT NULL,
    address text NOT NULL,
    user_id uuid NOT NULL,
    wishes text NOT NULL,
    CONSTRAINT target_wishes_address_check CHECK (((octet_length(address) >= 1) AND (octet_length(address) <= 1024))),
    CONSTRAINT target_wishes_channel_check CHECK ((channel ~ '^[a-z0-9_]{1,32}$'::text)),
    CONSTRAINT target_wishes_wishes_check CHECK ((octet_length(wishes) <= 1024))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE tacet.targets (
    registered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    dropped_at timestamp with time zone,
    expires_at timestamp with time zone,
    channel text NOT NULL,
    address text NOT NULL,
    user_id uuid NOT NULL,
    app text,
    keys text,
    locale text,
    time_zone text,
    fetch_digest text,
    drop_reason text,
    CONSTRAINT targets_address_check CHECK (((octet_length(address) >= 1) AND (octet_length(address) <= 1024))),
    CONSTRAINT targets_channel_check CHECK ((channel ~ '^[a-z0-9_]{1,32}$'::text)),
    CONSTRAINT targets_keys_check CHECK ((octet_length(keys) <= 1024))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE tacet.texts (
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    kind text NOT NULL,
    locale text NOT NULL,
    title text,
    subtitle text,
    body text,
    counted name,
    plural jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT texts_body_check CHECK ((char_length(body) <= 2048)),
    CONSTRAINT texts_kind_check CHECK ((kind ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT texts_locale_check CHECK ((locale ~ '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$'::text)),
    CONSTRAINT texts_plural_check CHECK (((jsonb_typeof(plural) = 'object'::text) AND (octet_length((plural)::text) <= 32768))),
    CONSTRAINT texts_subtitle_check CHECK ((char_length(subtitle) <= 256)),
    CONSTRAINT texts_title_check CHECK (((char_length(title) >= 1) AND (char_length(title) <= 256)))
);

CREATE TABLE tacet.time_zones (
    spelling text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    rules text
);

COMMENT ON TABLE tacet.time_zones IS 'names of time zones and their aliases; filled by tacet.learn_time_zones()';

CREATE TABLE tacet.trigger_failures (
    failed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    sqlstate text NOT NULL,
    message text NOT NULL,
    subject_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    kind text DEFAULT 'message'::text NOT NULL
)
WITH (vacuum_truncate=off);
ALTER TABLE ONLY tacet.trigger_failures REPLICA IDENTITY FULL;

CREATE TABLE tacet.unread_checks (
    due_at timestamp with time zone NOT NULL,
    log_id uuid NOT NULL,
    user_id uuid NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');

CREATE TABLE tacet.unread_marks (
    read_until timestamp with time zone NOT NULL,
    built_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    user_id uuid NOT NULL,
    conversation_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='1000');

COMMENT ON TABLE tacet.unread_marks IS 'where counting of unread messages begins; may be emptied at any time, which makes badges slower for an hour';

CREATE TABLE tacet.unread_preferences (
    after interval,
    user_id uuid NOT NULL,
    kind text NOT NULL,
    CONSTRAINT unread_preferences_after_check CHECK (((after >= '00:00:01'::interval) AND (after <= '7 days'::interval)))
);

CREATE VIEW tacet.user_columns AS
 SELECT (c.oid)::regclass AS relation,
    a.attname AS user_column
   FROM (pg_class c
     JOIN pg_attribute a ON ((a.attrelid = c.oid)))
  WHERE ((c.relnamespace = ('tacet'::regnamespace)::oid) AND (c.relkind = 'r'::"char") AND (c.oid <> ('tacet.erasures'::regclass)::oid) AND (a.attname = ANY (ARRAY['user_id'::name, 'only_user'::name])) AND (a.atttypid = ('uuid'::regtype)::oid) AND (NOT a.attisdropped));

CREATE TABLE tacet.user_sessions (
    began_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    user_id uuid NOT NULL
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE ONLY public.conversation_participants
    ADD CONSTRAINT conversation_participants_pkey PRIMARY KEY (conversation_id, user_id);

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.profiles
    ADD CONSTRAINT profiles_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.push_tokens
    ADD CONSTRAINT push_tokens_pkey PRIMARY KEY (device_token);

ALTER TABLE ONLY tacet.activities
    ADD CONSTRAINT activities_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tacet.activity
    ADD CONSTRAINT activity_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY tacet.activity_start_tokens
    ADD CONSTRAINT activity_start_tokens_pkey PRIMARY KEY (user_id, type, device_token);

ALTER TABLE ONLY tacet.activity_tokens
    ADD CONSTRAINT activity_tokens_pkey PRIMARY KEY (activity_id, device_token);

ALTER TABLE ONLY tacet.activity_types
    ADD CONSTRAINT activity_types_pkey PRIMARY KEY (name);

ALTER TABLE ONLY tacet.activity_updates
    ADD CONSTRAINT activity_updates_activity_id_version_key UNIQUE (activity_id, version);

ALTER TABLE ONLY tacet.activity_updates
    ADD CONSTRAINT activity_updates_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tacet.announcements
    ADD CONSTRAINT announcements_pkey PRIMARY KEY (event);

ALTER TABLE ONLY tacet.campaign_runs
    ADD CONSTRAINT campaign_runs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tacet.campaigns
    ADD CONSTRAINT campaigns_pkey PRIMARY KEY (name);

ALTER TABLE ONLY tacet.cancellations
    ADD CONSTRAINT cancellations_pkey PRIMARY KEY (cancel_key);

ALTER TABLE ONLY tacet.changed_rows
    ADD CONSTRAINT changed_rows_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tacet.conversation_preferences
    ADD CONSTRAINT conversation_preferences_pkey PRIMARY KEY (user_id, conversation_id);

ALTER TABLE ONLY tacet.default_bodies
    ADD CONSTRAINT default_bodies_pkey PRIMARY KEY (name, body);

ALTER TABLE ONLY tacet.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (subject_id, user_id, kind);

ALTER TABLE ONLY tacet.device_permissions
    ADD CONSTRAINT device_permissions_pkey PRIMARY KEY (device_token);

ALTER TABLE ONLY tacet.engagement_analyses
    ADD CONSTRAINT engagement_analyses_pkey PRIMARY KEY (analysed_at);

ALTER TABLE ONLY tacet.erasures
    ADD CONSTRAINT erasures_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tacet.escalations
    ADD CONSTRAINT escalations_pkey PRIMARY KEY (kind);

ALTER TABLE ONLY tacet.frequency_caps
    ADD CONSTRAINT frequency_caps_pkey PRIMARY KEY (user_id, cap_group);

ALTER TABLE ONLY tacet.function_files
    ADD CONSTRAINT function_files_pkey PRIMARY KEY (name);

ALTER TABLE ONLY tacet.host_additions
    ADD CONSTRAINT host_additions_pkey PRIMARY KEY (relation, kind, name);

ALTER TABLE ONLY tacet.host_events
    ADD CONSTRAINT host_events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tacet.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (subject_id, kind);

ALTER TABLE ONLY tacet.instances
    ADD CONSTRAINT instances_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tacet.kinds
    ADD CONSTRAINT kinds_pkey PRIMARY KEY (kind);

ALTER TABLE ONLY tacet.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (version);

ALTER TABLE ONLY tacet.model_texts
    ADD CONSTRAINT model_texts_pkey PRIMARY KEY (user_id, question);

ALTER TABLE ONLY tacet.model_usage
    ADD CONSTRAINT model_usage_pkey PRIMARY KEY (day);

ALTER TABLE ONLY tacet.notif_config
    ADD CONSTRAINT notif_config_pkey PRIMARY KEY (name);

ALTER TABLE ONLY tacet.notif_contents
    ADD CONSTRAINT notif_contents_pkey PRIMARY KEY (campaign, slot, owner);

ALTER TABLE ONLY tacet.notif_events
    ADD CONSTRAINT notif_events_pkey PRIMARY KEY (user_id, id);

ALTER TABLE ONLY tacet.occasions
    ADD CONSTRAINT occasions_pkey PRIMARY KEY (user_id, campaign, slot, fire_date);

ALTER TABLE ONLY tacet.preferences
    ADD CONSTRAINT preferences_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY tacet.push_kinds
    ADD CONSTRAINT push_kinds_event_kind_key UNIQUE (event_kind);

ALTER TABLE ONLY tacet.push_kinds
    ADD CONSTRAINT push_kinds_pkey PRIMARY KEY (name);

ALTER TABLE ONLY tacet.push_log
    ADD CONSTRAINT push_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tacet.pushes
    ADD CONSTRAINT pushes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tacet.read_syncs
    ADD CONSTRAINT read_syncs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tacet.releases
    ADD CONSTRAINT releases_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tacet.row_texts
    ADD CONSTRAINT row_texts_pkey PRIMARY KEY (subject_id, kind);

ALTER TABLE ONLY tacet.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY tacet.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (is_only_row);

ALTER TABLE ONLY tacet.shards
    ADD CONSTRAINT shards_pkey PRIMARY KEY (shard);

ALTER TABLE ONLY tacet.slots
    ADD CONSTRAINT slots_pkey PRIMARY KEY (user_id, campaign, slot);

ALTER TABLE ONLY tacet.surface_views
    ADD CONSTRAINT surface_views_pkey PRIMARY KEY (user_id, surface_id, surface_kind);

ALTER TABLE ONLY tacet.target_wishes
    ADD CONSTRAINT target_wishes_pkey PRIMARY KEY (address, channel);

ALTER TABLE ONLY tacet.targets
    ADD CONSTRAINT targets_pkey PRIMARY KEY (address, channel);

ALTER TABLE ONLY tacet.texts
    ADD CONSTRAINT texts_pkey PRIMARY KEY (kind, locale);

ALTER TABLE ONLY tacet.time_zones
    ADD CONSTRAINT time_zones_pkey PRIMARY KEY (spelling);

ALTER TABLE ONLY tacet.unread_checks
    ADD CONSTRAINT unread_checks_pkey PRIMARY KEY (log_id);

ALTER TABLE ONLY tacet.unread_marks
    ADD CONSTRAINT unread_marks_pkey PRIMARY KEY (user_id, conversation_id);

ALTER TABLE ONLY tacet.unread_preferences
    ADD CONSTRAINT unread_preferences_pkey PRIMARY KEY (user_id, kind);

ALTER TABLE ONLY tacet.user_sessions
    ADD CONSTRAINT user_sessions_pkey PRIMARY KEY (user_id, began_at);

ALTER TABLE ONLY tacet.watched_activities
    ADD CONSTRAINT watched_activities_pkey PRIMARY KEY (type);

CREATE INDEX conversation_participants_last_seen_idx ON public.conversation_participants USING btree (conversation_id, last_seen);

CREATE INDEX conversation_participants_user_idx ON public.conversation_participants USING btree (user_id);

CREATE INDEX messages_conversation_idx ON public.messages USING btree (conversation_id, created_at DESC);

CREATE INDEX push_tokens_dropped_idx ON public.push_tokens USING btree (user_id) WHERE (invalidated_at IS NOT NULL);

CREATE INDEX push_tokens_spelling_idx ON public.push_tokens USING btree (lower(device_token));

CREATE INDEX push_tokens_user_idx ON public.push_tokens USING btree (user_id) WHERE (invalidated_at IS NULL);

CREATE INDEX activities_ended_idx ON tacet.activities USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX activities_running_idx ON tacet.activities USING btree (started_at) WHERE (ended_at IS NULL);

CREATE INDEX activities_user_idx ON tacet.activities USING btree (user_id);

CREATE INDEX activity_start_tokens_token_idx ON tacet.activity_start_tokens USING btree (token);

CREATE INDEX activity_tokens_token_idx ON tacet.activity_tokens USING btree (token);

CREATE INDEX activity_updates_created_idx ON tacet.activity_updates USING btree (created_at);

CREATE INDEX activity_updates_urgent_idx ON tacet.activity_updates USING btree (activity_id, created_at) WHERE (priority = 10);

CREATE UNIQUE INDEX campaign_runs_hour_idx ON tacet.campaign_runs USING btree (campaign, due_at) WHERE (cause = 'schedule'::text);

CREATE INDEX campaign_runs_started_idx ON tacet.campaign_runs USING btree (started_at);

CREATE INDEX cancellations_cancelled_at_idx ON tacet.cancellations USING btree (cancelled_at);

CREATE INDEX deliveries_activity_idx ON tacet.deliveries USING btree (user_id) WHERE (kind = 'live_activity'::text);

CREATE INDEX deliveries_due_idx ON tacet.deliveries USING btree (due_at) WHERE (state <> 'waiting'::text);

CREATE INDEX deliveries_expiry_idx ON tacet.deliveries USING btree ((((enqueued_at - '1970-01-01 00:00:00+00'::timestamp with time zone) + ((held_us)::double precision * '00:00:00.000001'::interval)))) WHERE (state = 'waiting'::text);

CREATE INDEX deliveries_held_idx ON tacet.deliveries USING btree (user_id, conversation_id) WHERE (state = 'held'::text);

CREATE INDEX deliveries_suspect_idx ON tacet.deliveries USING btree (due_at) WHERE (rescues > 1);

CREATE INDEX deliveries_waiting_idx ON tacet.deliveries USING btree (lane, enqueued_at) WHERE (state = 'waiting'::text);

CREATE INDEX device_permissions_user_idx ON tacet.device_permissions USING btree (user_id);

CREATE INDEX erasures_due_idx ON tacet.erasures USING btree (due_at);

CREATE INDEX host_events_claimed_idx ON tacet.host_events USING btree (user_id, due_at) WHERE ((state = 'waiting'::text) AND is_claimed);

CREATE INDEX host_events_dead_idx ON tacet.host_events USING btree (ended_at) WHERE (state = 'dead'::text);

CREATE INDEX host_events_due_idx ON tacet.host_events USING btree (due_at) WHERE (state = 'waiting'::text);

CREATE INDEX host_events_ended_idx ON tacet.host_events USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX host_events_later_idx ON tacet.host_events USING btree (user_id, due_at) WHERE (state = 'waiting'::text);

CREATE INDEX host_events_order_idx ON tacet.host_events USING btree (user_id, id) WHERE (state = 'waiting'::text);

CREATE UNIQUE INDEX host_events_unread_idx ON tacet.host_events USING btree (log_id) WHERE (type = 'push.unread'::text);

CREATE INDEX host_events_user_idx ON tacet.host_events USING btree (user_id);

CREATE INDEX inbox_available_idx ON tacet.inbox USING btree (is_claimed, available_at);

CREATE INDEX instances_seen_idx ON tacet.instances USING btree (seen_at);

CREATE INDEX model_texts_asked_idx ON tacet.model_texts USING btree (asked_at);

CREATE INDEX notif_contents_user_idx ON tacet.notif_contents USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE INDEX notif_events_received_idx ON tacet.notif_events USING btree (received_at);

CREATE INDEX occasions_available_idx ON tacet.occasions USING btree (has_slot, available_at) WHERE ((status = ANY (ARRAY['scheduled'::text, 'armed'::text])) AND (available_at < 'infinity'::timestamp with time zone));

CREATE INDEX occasions_fire_idx ON tacet.occasions USING btree (fire_at);

CREATE UNIQUE INDEX occasions_phase_idx ON tacet.occasions USING btree (user_id, campaign, phase, fire_date) WHERE ((phase IS NOT NULL) AND (status <> ALL (ARRAY['skipped'::text, 'cancelled'::text, 'failed'::text])));

CREATE INDEX occasions_run_idx ON tacet.occasions USING btree (run_id) WHERE (run_id IS NOT NULL);

CREATE INDEX parked_parked_idx ON tacet.parked USING btree (parked_at);

CREATE INDEX parked_subject_idx ON tacet.parked USING btree (subject_id);

CREATE INDEX preferences_content_idx ON tacet.preferences USING btree (user_id) WHERE (content IS NOT NULL);

CREATE INDEX push_log_campaign_idx ON tacet.push_log USING btree (user_id, sent_at DESC) WHERE ((push_type <> 'message'::text) IS TRUE);

CREATE INDEX push_log_enqueued_idx ON tacet.push_log USING btree (enqueued_at);

CREATE UNIQUE INDEX push_log_subject_idx ON tacet.push_log USING btree (subject_id, user_id, push_type);

CREATE INDEX push_log_user_enqueued_idx ON tacet.push_log USING btree (user_id, enqueued_at DESC);

CREATE INDEX pushes_cancel_key_idx ON tacet.pushes USING btree (cancel_key) WHERE (cancel_key IS NOT NULL);

CREATE INDEX pushes_created_idx ON tacet.pushes USING btree (created_at);

CREATE UNIQUE INDEX pushes_idempotency_key_idx ON tacet.pushes USING btree (idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX pushes_user_idx ON tacet.pushes USING btree (user_id);

CREATE INDEX read_syncs_available_idx ON tacet.read_syncs USING btree (available_at);

CREATE INDEX read_syncs_user_idx ON tacet.read_syncs USING btree (user_id, available_at);

CREATE INDEX releases_queued_idx ON tacet.releases USING btree (queued_at);

CREATE INDEX row_texts_asked_idx ON tacet.row_texts USING btree (asked_at);

CREATE INDEX row_texts_user_idx ON tacet.row_texts USING btree (user_id);

CREATE INDEX slots_available_idx ON tacet.slots USING btree (available_at);

CREATE INDEX target_wishes_user_idx ON tacet.target_wishes USING btree (user_id);

CREATE INDEX targets_fetch_idx ON tacet.targets USING btree (fetch_digest) WHERE (fetch_digest IS NOT NULL);

CREATE INDEX targets_user_idx ON tacet.targets USING btree (user_id, registered_at DESC);

CREATE INDEX trigger_failures_failed_idx ON tacet.trigger_failures USING btree (failed_at);

CREATE INDEX trigger_failures_missed_idx ON tacet.trigger_failures USING btree (failed_at) WHERE (subject_ids <> '{}'::uuid[]);

CREATE INDEX unread_checks_due_idx ON tacet.unread_checks USING btree (due_at);

CREATE INDEX unread_checks_user_idx ON tacet.unread_checks USING btree (user_id);

CREATE INDEX user_sessions_began_idx ON tacet.user_sessions USING btree (began_at);

CREATE TRIGGER tacet_conversation_left AFTER DELETE ON public.conversation_participants REFERENCING OLD TABLE AS previous FOR EACH STATEMENT EXECUTE FUNCTION tacet.release_concerned('left');

CREATE TRIGGER tacet_conversation_seen AFTER UPDATE ON public.conversation_participants REFERENCING OLD TABLE AS previous NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tacet.release_concerned('seen');

CREATE TRIGGER tacet_message_deleted AFTER DELETE ON public.messages REFERENCING OLD TABLE AS previous FOR EACH STATEMENT EXECUTE FUNCTION tacet.release_concerned('deleted');

CREATE TRIGGER tacet_message_inserted AFTER INSERT ON public.messages REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION tacet.enqueue_inserted_messages('conversation_id', 'created_at');

CREATE TRIGGER tacet_message_read AFTER UPDATE ON public.messages REFERENCING OLD TABLE AS previous NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tacet.release_concerned('read');

CREATE TRIGGER tacet_profile_deleted AFTER DELETE ON public.profiles REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION tacet.forget_deleted_profiles();

CREATE TRIGGER live_activity_recorded AFTER INSERT OR UPDATE ON tacet.push_log FOR EACH ROW WHEN (((new.push_type = 'live_activity'::text) AND (new.decision = ANY (ARRAY['sent'::text, 'held'::text])))) EXECUTE FUNCTION tacet.space_live_activity();

CREATE TRIGGER occasion_unsent AFTER INSERT OR UPDATE ON tacet.push_log FOR EACH ROW WHEN (((new.decision = ANY (ARRAY['skipped'::text, 'failed'::text])) AND (new.push_type <> 'message'::text) AND (new.reason IS DISTINCT FROM 'shadow'::text))) EXECUTE FUNCTION tacet.note_unsent();

ALTER TABLE ONLY public.conversation_participants
    ADD CONSTRAINT conversation_participants_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES public.conversations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.conversation_participants
    ADD CONSTRAINT conversation_participants_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.profiles(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES public.conversations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_from_id_fkey FOREIGN KEY (from_id) REFERENCES public.profiles(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.push_tokens
    ADD CONSTRAINT push_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.profiles(id) ON DELETE CASCADE;

ALTER TABLE ONLY tacet.activities
    ADD CONSTRAINT activities_type_fkey FOREIGN KEY (type) REFERENCES tacet.activity_types(name) ON UPDATE CASCADE;

ALTER TABLE ONLY tacet.activity_start_tokens
    ADD CONSTRAINT activity_start_tokens_type_fkey FOREIGN KEY (type) REFERENCES tacet.activity_types(name) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY tacet.activity_tokens
    ADD CONSTRAINT activity_tokens_activity_id_fkey FOREIGN KEY (activity_id) REFERENCES tacet.activities(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY tacet.activity_updates
    ADD CONSTRAINT activity_updates_activity_id_fkey FOREIGN KEY (activity_id) REFERENCES tacet.activities(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY tacet.watched_activities
    ADD CONSTRAINT watched_activities_type_fkey FOREIGN KEY (type) REFERENCES tacet.activity_types(name) ON UPDATE CASCADE;

ALTER TABLE public.conversation_participants ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.conversations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.profiles ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.push_tokens ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.activities ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.activity ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.activity_start_tokens ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.activity_tokens ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.activity_types ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.activity_updates ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.announcements ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.campaign_runs ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.campaigns ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.cancellations ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.changed_rows ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.conversation_preferences ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.default_bodies ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.deliveries ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.device_permissions ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.engagement_analyses ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.erasures ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.escalations ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.frequency_caps ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.function_files ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.host_additions ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.host_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.inbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.instances ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.kinds ENABLE ROW LEVEL SECURITY;

CREATE POLICY kinds_are_read ON tacet.kinds FOR SELECT USING (true);

ALTER TABLE tacet.migrations ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.model_texts ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.model_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.notif_config ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.notif_contents ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.notif_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.occasions ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.parked ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.preferences ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.push_kinds ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.push_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.pushes ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.read_syncs ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.releases ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.row_texts ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.schedules ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.settings ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.shards ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.slots ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.surface_views ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.target_wishes ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.targets ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.texts ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.time_zones ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.trigger_failures ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.unread_checks ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.unread_marks ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.unread_preferences ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.user_sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE tacet.watched_activities ENABLE ROW LEVEL SECURITY;

-- Functions, whose bodies are in functions/:
-- tacet.acknowledge_occasion(occasion tacet.occasions, code text, token text, moment timestamp with time zone) returns void
-- tacet.adopt_database(keeps_waiting boolean) returns TABLE(what text, dropped bigint)
-- tacet.advance_slots(campaign text, decided tacet.decided_occasion[], lead_us bigint) returns SETOF bigint
-- tacet.analyse_engagement() returns interval
-- tacet.announce(events text[], kinds text[] DEFAULT NULL::text[]) returns void
-- tacet.announce_decisions() returns trigger
-- tacet.announced_id(id text, user_id uuid) returns text
-- tacet.asks_to_wait(decision text, reason text) returns boolean
-- tacet.audience_query(audience text, moment text, only_user text) returns text
-- tacet.audience_says(audience text, name text) returns boolean
-- tacet.available_at(send_at timestamp with time zone) returns timestamp with time zone
-- tacet.badge_max() returns bigint
-- tacet.bigint_of(id text) returns bigint
-- tacet.block_tables() returns TABLE(relation oid, table_name text, blocker_column text, blocked_column text)
-- tacet.call_with_nulls(function_name text) returns void
-- tacet.campaign_day(zone text, gap_days integer, moment timestamp with time zone) returns TABLE(local_day date, day_start timestamp with time zone, day_end timestamp with time zone, gap_start timestamp with time zone)
-- tacet.campaign_gate(user_id uuid, needs_no_session boolean, cap_group text, local_day date, day_start timestamp with time zone, day_end timestamp with time zone, gap_start timestamp with time zone) returns TABLE(reason text)
-- tacet.campaign_hour(campaign tacet.campaigns, standard_time time without time zone, zone text, day date) returns timestamp with time zone
-- tacet.campaign_material(campaign text, user_id uuid) returns jsonb
-- tacet.campaign_page(campaign tacet.campaigns, due_at timestamp with time zone, zones text[] DEFAULT NULL::text[], only_user uuid DEFAULT NULL::uuid, after_user uuid DEFAULT NULL::uuid, users_max bigint DEFAULT NULL::bigint, is_guarded boolean DEFAULT false) returns TABLE(user_id uuid, time_zone text, local_day date, local_time time without time zone, is_considered boolean, pending_day date)
-- tacet.campaign_presentation(presentation jsonb, named jsonb) returns jsonb
-- tacet.campaign_refusals(campaign text, user_ids uuid[], due_ats timestamp with time zone[], days date[], push_types text[]) returns TABLE(place bigint, refusal text)
-- tacet.campaign_situations(campaign text, user_ids uuid[], due_at timestamp with time zone DEFAULT NULL::timestamp with time zone, day date DEFAULT NULL::date) returns TABLE(user_id uuid, time_zone text, refusal text, material jsonb)
-- tacet.cancel_pushes(cancel_key text) returns bigint
-- tacet.cancel_user_pushes(user_id uuid) returns bigint
-- tacet.canonical_locale(locale text) returns text
-- tacet.change_live_activity(running tacet.activities, declared tacet.activity_types, state jsonb, alert jsonb, priority integer, relevance double precision) returns text
-- tacet.change_slots(campaign text, user_id uuid, zone text, lead_us bigint, wanted jsonb DEFAULT NULL::jsonb, default_slots jsonb DEFAULT NULL::jsonb, seen text DEFAULT NULL::text) returns integer
-- tacet.check_composer(composer jsonb) returns void
-- tacet.check_in_audience(moment timestamp with time zone, only_user uuid) returns TABLE(user_id uuid, time_zone text, gap_days integer, refusal text)
-- tacet.check_in_material(user_id uuid, moment timestamp with time zone) returns jsonb
-- tacet.check_live_activity_size(attributes jsonb, state jsonb, alert jsonb) returns void
-- tacet.check_presentation(presentation jsonb) returns void
-- tacet.check_unread(checks_max integer) returns bigint
-- tacet.choose_slots(campaign text, user_id uuid, is_on boolean, chosen jsonb, zone text, lead_us bigint, is_chosen boolean DEFAULT true) returns void
-- tacet.civil_instant(civil timestamp without time zone, zone text) returns timestamp with time zone
-- tacet.claim_host_event(owner uuid, lease interval) returns tacet.host_events
-- tacet.claim_host_events(events_max integer, lease interval) returns SETOF tacet.host_events
-- tacet.clear_messages(message_ids uuid[], conversation_ids uuid[]) returns void
-- tacet.close_table(source regclass) returns void
-- tacet.coaching_facts(user_id uuid, moment timestamp with time zone) returns jsonb
-- tacet.commit_occasions(campaign text, way text, decided tacet.decided_occasion[]) returns TABLE(place bigint, status text, reason text, push_id uuid)
-- tacet.complete_micro_action(user_id uuid, day date, at timestamp with time zone) returns boolean
-- tacet.count_missed_events(failed_kind text, failed_state text, failed_message text, failed_subject_ids uuid[]) returns void
-- tacet.count_trigger_failure(failed_state text, failed_message text, failed_subject_ids text[] DEFAULT '{}'::text[]) returns void
-- tacet.count_unread(user_id uuid, left_out uuid[] DEFAULT '{}'::uuid[]) returns TABLE(unread bigint)
-- tacet.counts_by_default() returns boolean
-- tacet.counts_by_default_when_planned() returns boolean
-- tacet.current_streak(user_id uuid, day date) returns integer
-- tacet.database_identity() returns text
-- tacet.define(IN definition text)
-- tacet.deliver_slot(campaign text, user_id uuid, slot text) returns TABLE(refusal text, push_id uuid)
-- tacet.denied_devices(user_id uuid) returns text
-- tacet.device_token_owners(beginning text, owners_max integer) returns TABLE(user_id uuid, device_token text)
-- tacet.device_tokens(user_id uuid) returns TABLE(device_token text, environment text, app text)
-- tacet.drop_dead_device(device_token text, reason text, invalid_since timestamp with time zone) returns void
-- tacet.drop_watch_triggers(kind text, source regclass, happenings text[] DEFAULT '{happened,deleted}'::text[]) returns void
-- tacet.due_hours(campaign text, standard_time time without time zone, moment timestamp with time zone DEFAULT clock_timestamp()) returns TABLE(due_at timestamp with time zone, zones text[])
-- tacet.end_live_activity(id text, state jsonb, alert jsonb, reason text, is_pushed boolean DEFAULT true) returns text
-- tacet.engagement(period_start timestamp with time zone, period_end timestamp with time zone) returns TABLE(total_users bigint, active_users bigint, recent_users bigint, lapsed_users bigint, churn_risk_users bigint, sessions bigint, session_seconds double precision)
-- tacet.engagement_class(idle interval) returns text
-- tacet.engagement_preferences(only_user uuid) returns TABLE(user_id uuid, time_zone text, communication jsonb, reminders jsonb)
-- tacet.enqueue_inserted_messages() returns trigger
-- tacet.enqueue_message(subject_id uuid) returns boolean
-- tacet.enqueue_watched() returns trigger
-- tacet.enrol_campaign(campaign text, due_at timestamp with time zone, zones text[] DEFAULT NULL::text[], only_user uuid DEFAULT NULL::uuid, users_max bigint DEFAULT NULL::bigint, request uuid DEFAULT NULL::uuid) returns TABLE(run_id uuid, enrolled integer, is_finished boolean)
-- tacet.enrol_slots(campaign text, default_slots jsonb, are_new boolean, after_user uuid, users_max bigint, lead_us bigint) returns TABLE(enrolled bigint, moved bigint, last_user uuid)
-- tacet.erase_users(users_max integer, rows_max integer, settled interval) returns TABLE(erased bigint, finished bigint, has_more boolean)
-- tacet.event_audience(push_kind text, event_kind text, subject_id uuid, surface_id uuid) returns SETOF tacet.push_recipient
-- tacet.event_content(event_kind text, subject_id uuid) returns TABLE(push_kind text, surface_id uuid, actor_id uuid, dated_at timestamp with time zone, life_us bigint, quiet_policy text, excluded_device text, withheld text, is_silent boolean, content text)
-- tacet.event_facts(event_kind text, subject_id uuid) returns TABLE(push_kind text, surface_id uuid, sender_id uuid, sender_name text, body text, created_at timestamp with time zone, read_by uuid[], prior_read_by uuid[], prior_touched_at timestamp with time zone, dated_at timestamp with time zone, life_us bigint, quiet_policy text, reading_device text, withheld text, is_silent boolean, content text)
-- tacet.event_recipients(push_kind text, event_kind text, subject_id uuid, surface_id uuid) returns SETOF tacet.push_recipient
-- tacet.fact_time(facts jsonb, name text) returns timestamp with time zone
-- tacet.field_expressions(fields jsonb, declared jsonb) returns text
-- tacet.fill_presentation(presentation jsonb, named jsonb) returns jsonb
-- tacet.fill_template(template text, named jsonb) returns text
-- tacet.fill_text(template text, named jsonb) returns text
-- tacet.finish_applying()
-- tacet.fit_triggers()
-- tacet.fitted(definition text) returns text
-- tacet.follow_audience(campaign text, default_slots jsonb, user_ids uuid[], lead_us bigint) returns TABLE(enrolled bigint, moved bigint)
-- tacet.follow_changed_rows(rows_max integer) returns bigint
-- tacet.follow_row(watched tacet.watched_activities, subject_id uuid) returns text
-- tacet.follow_rows() returns trigger
-- tacet.forget_deleted_profiles() returns trigger
-- tacet.forget_user(user_id uuid) returns void
-- tacet.frequency_days(frequency jsonb) returns integer
-- tacet.give_up_shards(instance_id text, shards integer[]) returns void
-- tacet.grant_service(service regrole) returns void
-- tacet.grant_services() returns void
-- tacet.has_account(user_id uuid) returns boolean
-- tacet.has_asked_to_wait(history jsonb, token text) returns boolean
-- tacet.has_blocked(user_id uuid, sender_id uuid) returns boolean
-- tacet.has_http_post() returns boolean
-- tacet.has_index(source regclass, columns text, predicate text DEFAULT NULL::text) returns boolean
-- tacet.has_reported_enough(user_id uuid) returns boolean
-- tacet.has_seen(last_seen timestamp with time zone, dated_at timestamp with time zone, enqueued_at timestamp with time zone) returns boolean
-- tacet.hasten_cancelled(push_ids uuid[]) returns bigint
-- tacet.hidden_rows(tables text[]) returns TABLE(relation oid, place text, column_name text, before text, after text, words text, is_wish boolean)
-- tacet.hides_writes(contract_function text, written text, conversation_id uuid) returns boolean
-- tacet.highest_user_id() returns uuid
-- tacet.hmac_sha256(message bytea, key bytea) returns bytea
-- tacet.hold_shards(instance_id text, host text, process_id integer, version text, lease_us bigint) returns TABLE(shard integer, epoch bigint, taken_us bigint, is_surplus boolean, is_quiet boolean)
-- tacet.holds_ids(type regtype, ids regtype, takes_any boolean DEFAULT false) returns boolean
-- tacet.hydration_audience(moment timestamp with time zone, only_user uuid) returns TABLE(user_id uuid, time_zone text, gap_days integer, slots jsonb, refusal text)
-- tacet.hydration_material(user_id uuid, moment timestamp with time zone) returns jsonb
-- tacet.hydration_slots(frequency jsonb, first_slot text, end_slot text) returns jsonb
-- tacet.invalidate_device_token(device_token text, reason text, invalid_since timestamp with time zone) returns void
-- tacet.is_among(subject_id uuid, subject_ids uuid[]) returns boolean
-- tacet.is_attempted(content tacet.notif_contents, day date, lease_us bigint) returns boolean
-- tacet.is_cancelled(cancel_key text, asked_at timestamp with time zone) returns boolean
-- tacet.is_default(installed regprocedure) returns boolean
-- tacet.is_denied(user_id uuid) returns boolean
-- tacet.is_done(push tacet.pushes) returns boolean
-- tacet.is_mentioned(message_id uuid, user_id uuid) returns boolean
-- tacet.join_kinds()
-- tacet.keep_wishes(user_id uuid, channel text, address text, wishes text) returns void
-- tacet.known_facts(user_id uuid, moment timestamp with time zone) returns jsonb
-- tacet.known_zone(zone text) returns text
-- tacet.known_zones() returns SETOF text
-- tacet.lapse_audience(moment timestamp with time zone, only_user uuid) returns TABLE(user_id uuid, time_zone text, gap_days integer, local_time time without time zone, refusal text)
-- tacet.lapse_material(user_id uuid, moment timestamp with time zone) returns jsonb
-- tacet.learn_time_zones() returns void
-- tacet.learn_token_environment(device_token text, environment text, registered_environment text, registered_app text, read_at timestamp with time zone) returns void
-- tacet.leave_device(user_ids uuid[], device_token text) returns void
-- tacet.listed(list jsonb) returns text
-- tacet.live_activity_addresses(running tacet.activities, event text, update_id uuid) returns json
-- tacet.live_activity_alert(alert jsonb) returns jsonb
-- tacet.live_activity_audience(event_kind text, subject_id uuid, surface_id uuid) returns SETOF tacet.push_recipient
-- tacet.live_activity_content(event_kind text, subject_id uuid) returns SETOF tacet.push_content
-- tacet.live_activity_date(what text, name text, value text) returns jsonb
-- tacet.live_activity_document(what text, declared jsonb, given jsonb) returns jsonb
-- tacet.live_activity_of(id text, user_id uuid) returns text
-- tacet.live_activity_type_fault(declared tacet.activity_types) returns text
-- tacet.live_activity_value(what text, name text, type text, may_be_missing boolean, value jsonb) returns jsonb
-- tacet.localise(kind text, locale text, title text DEFAULT NULL::text, body text DEFAULT NULL::text, subtitle text DEFAULT NULL::text, counted name DEFAULT NULL::name, plural jsonb DEFAULT '{}'::jsonb) returns void
-- tacet.localised_texts(kind text) returns jsonb
-- tacet.lock_of(name text) returns bigint
-- tacet.lock_slots(user_id uuid) returns void
-- tacet.looked_at_because(log_id uuid) returns text
-- tacet.looked_at_because(log_ids uuid[]) returns TABLE(log_id uuid, cause text)
-- tacet.lowest_user_id() returns uuid
-- tacet.mark_read(conversation_id uuid, user_id uuid, up_to_message_id uuid) returns SETOF uuid
-- tacet.material_query(material text, user_id text, moment text, time_zone text) returns text
-- tacet.may_view(surface_kind text, surface_id uuid, user_id uuid) returns boolean
-- tacet.meal_audience(moment timestamp with time zone, only_user uuid) returns TABLE(user_id uuid, time_zone text, gap_days integer, refusal text)
-- tacet.meal_material(user_id uuid, moment timestamp with time zone) returns jsonb
-- tacet.mentions_by_default_when_planned() returns boolean
-- tacet.message_context(message_id uuid) returns TABLE(conversation_id uuid, sender_id uuid, sender_name text, body text, created_at timestamp with time zone, read_by uuid[], prior_read_by uuid[], prior_touched_at timestamp with time zone)
-- tacet.message_facts(subject_id uuid) returns TABLE(surface_id uuid, sender_id uuid, sender_name text, body text, created_at timestamp with time zone, read_by uuid[], prior_read_by uuid[], prior_touched_at timestamp with time zone)
-- tacet.message_of(subject_id uuid) returns uuid
-- tacet.morning_audience(moment timestamp with time zone, only_user uuid) returns TABLE(user_id uuid, time_zone text, gap_days integer, slots jsonb, refusal text)
-- tacet.morning_material(user_id uuid, moment timestamp with time zone) returns jsonb
-- tacet.move_unread_marks(user_ids uuid[]) returns void
-- tacet.named_occasion(user_id uuid, name text) returns tacet.occasions
-- tacet.next_fire(slot text, zone text, after timestamp with time zone, weekdays smallint[] DEFAULT '{1,2,3,4,5,6,7}'::smallint[]) returns TABLE(fire_date date, fire_at timestamp with time zone)
-- tacet.next_live_activity_push(id uuid, user_id uuid) returns timestamp with time zone
-- tacet.normal_slots(slots jsonb) returns jsonb
-- tacet.not_wired(function_name text) returns boolean
-- tacet.note_active_users(user_ids uuid[], at timestamp with time zone) returns bigint
-- tacet.note_activity(user_id uuid, at timestamp with time zone DEFAULT clock_timestamp()) returns boolean
-- tacet.note_device_permission(user_id uuid, device_token text, is_denied boolean, tolerance_seconds integer, moment timestamp with time zone) returns void
-- tacet.note_gone_users(after uuid, users_max integer) returns uuid
-- tacet.note_re_engagement(user_id uuid, moment timestamp with time zone) returns void
-- tacet.note_token_environment(device_token text, environment text, registered_environment text, registered_app text, read_at timestamp with time zone) returns void
-- tacet.note_unsent() returns trigger
-- tacet.notify_service(payload text) returns void
-- tacet.occasion_after(state text, event text) returns text
-- tacet.occasion_name(occasion tacet.occasions) returns text
-- tacet.occasion_state(occasion tacet.occasions) returns text
-- tacet.occasion_status(state text) returns text
-- tacet.offers_campaign(name text) returns boolean
-- tacet.one_of(facts jsonb, name text, words text[]) returns text
-- tacet.plural_fault(plural jsonb) returns text
-- tacet.preferred_slot(wish jsonb, standard text) returns text
-- tacet.preferred_time(wishes jsonb) returns time without time zone
-- tacet.prepare_occasions(campaign text, decided tacet.decided_occasion[], lead_us bigint) returns SETOF uuid
-- tacet.presence_repeats_within() returns interval
-- tacet.profile_name(user_id uuid) returns text
-- tacet.profile_zones(only_user uuid) returns TABLE(user_id uuid, time_zone text)
-- tacet.provide(IN signature text, IN definition text, IN is_tried boolean DEFAULT false, IN inert text DEFAULT NULL::text)
-- tacet.prune(table_name text, retention interval) returns bigint
-- tacet.prune_statement(table_name text) returns text
-- tacet.push_live_activity(running tacet.activities, declared tacet.activity_types, event text, state jsonb, alert jsonb, priority integer, relevance double precision) returns void
-- tacet.push_metadata(subject_id uuid) returns jsonb
-- tacet.push_refusal(user_id uuid, kind text, armed_by text[], moment timestamp with time zone) returns TABLE(refusal text, excluded text)
-- tacet.push_targets(user_id uuid) returns TABLE(channel text, address text, environment text, app text, keys text)
-- tacet.put_activity_token(id text, user_id uuid, device_token text, token text, app text, environment text) returns boolean
-- tacet.put_preferences(user_id uuid, quiet_start time without time zone, quiet_end time without time zone, quiet_zone text, quiet_policy text, disabled_kinds text[], conversation_ids uuid[], muted boolean[], muted_until timestamp with time zone[], mentions_only boolean[], content text DEFAULT NULL::text, unread_kinds text[] DEFAULT '{}'::text[], unread_seconds bigint[] DEFAULT '{}'::bigint[]) returns void
-- tacet.put_start_token(user_id uuid, device_token text, type text, token text, app text, environment text) returns boolean
-- tacet.queue_changed_rows(type text, subjects uuid[]) returns void
-- tacet.queue_occasion(occasion tacet.occasions, push_id uuid, excluded text, send_at timestamp with time zone, metadata jsonb DEFAULT '{}'::jsonb, cancel_key text DEFAULT NULL::text) returns void
-- tacet.queue_occasions(campaign text, decided tacet.decided_occasion[], push_ids uuid[], excluded text[], moment timestamp with time zone, send_at timestamp with time zone DEFAULT NULL::timestamp with time zone, cancel_key text DEFAULT NULL::text) returns void
-- tacet.quiet_hours_remaining(quiet_start time without time zone, quiet_end time without time zone, zone text, moment timestamp with time zone) returns interval
-- tacet.read_conversation(conversation_id uuid, user_id uuid, up_to_message_id uuid, device_token text, is_synced boolean, OUT takes_part boolean, OUT knows_message boolean, OUT read_count bigint, OUT badge bigint, OUT sync_wait bigint) returns record
-- tacet.read_sync_audience(event_kind text, subject_id uuid, surface_id uuid) returns SETOF tacet.push_recipient
-- tacet.read_sync_content(event_kind text, subject_id uuid) returns SETOF tacet.push_content
-- tacet.recall_push(push_id uuid, user_id uuid) returns void
-- tacet.recipient_preferences(user_id uuid, kind text, surface_id uuid, moment timestamp with time zone) returns TABLE(is_opted_out boolean, is_muted boolean, mentions_only boolean, quiet_hours_remaining interval, quiet_hours_policy text)
-- tacet.refusal(message text) returns text
-- tacet.register_device(user_id uuid, device_token text, environment text, app text, platform text, locale text, time_zone text, devices_max integer) returns void
-- tacet.register_kind(IN name text, IN event_kind text, IN content text, IN audience text)
-- tacet.register_target(user_id uuid, channel text, address text, app text, keys text, locale text, time_zone text, fetch_digest text, expires_at timestamp with time zone, targets_max integer) returns void
-- tacet.rehearse_message(is_inserting boolean) returns TABLE(step text, outcome text, state text, message text)
-- tacet.release_concerned() returns trigger
-- tacet.release_conversation(conversation_id uuid, user_id uuid) returns void
-- tacet.release_holds(subject_ids uuid[], user_ids uuid[]) returns void
-- tacet.release_holds(subject_ids uuid[], user_ids uuid[], causes text[]) returns void
-- tacet.release_message(message_id uuid) returns void
-- tacet.release_unwatched() returns trigger
-- tacet.release_user(user_id uuid) returns void
-- tacet.remove_device(user_id uuid, device_token text) returns boolean
-- tacet.renew_target(fetch_digest text, address text, keys text, next_digest text, expires_at timestamp with time zone, targets_max integer) returns boolean
-- tacet.replay(subject_id uuid) returns bigint
-- tacet.report_slot_action(user_id uuid, event_id uuid, action text, identifier text, happened_at timestamp with time zone) returns TABLE(outcome text, answer jsonb)
-- tacet.report_slot_events(user_id uuid, ids uuid[], codes text[], identifiers text[], device_tokens text[], circumstances text[], happened_ats timestamp with time zone[]) returns SETOF bigint
-- tacet.reserve_model_text(user_id uuid, question text, usage_day date, tokens bigint, microdollars bigint, tokens_max bigint, microdollars_max bigint) returns TABLE(reply text, refusal text)
-- tacet.retentions() returns TABLE(name text, moment text, ordered_by text, condition text, needed_for interval)
-- tacet.retire(IN signature text, IN result text DEFAULT NULL::text)
-- tacet.retry_host_events() returns bigint
-- tacet.ritual_action(user_id uuid, action text, day date, moment timestamp with time zone) returns jsonb
-- tacet.ritual_audience(moment timestamp with time zone, only_user uuid) returns TABLE(user_id uuid, time_zone text, gap_days integer)
-- tacet.ritual_material(user_id uuid, moment timestamp with time zone, time_zone text) returns TABLE(material jsonb)
-- tacet.ritual_profile(user_id uuid) returns TABLE(terrain_type text, nickname text, is_onboarded boolean)
-- tacet.row_of(subject_id uuid) returns uuid
-- tacet.said_of_users(audience text, user_ids uuid[], moment timestamp with time zone) returns TABLE(place bigint, zone_name text, gap_days integer, refusal text)
-- tacet.seen_by(conversation_id uuid) returns TABLE(user_id uuid, last_seen timestamp with time zone, left_at timestamp with time zone)
-- tacet.seen_slots(campaign text, user_id uuid) returns text
-- tacet.sessions_between(user_id uuid, first_moment timestamp with time zone, end_moment timestamp with time zone) returns TABLE(session_id uuid)
-- tacet.sessions_of(user_id uuid, period_start timestamp with time zone, period_end timestamp with time zone) returns TABLE(began_at timestamp with time zone, ended_at timestamp with time zone)
-- tacet.settle_host_event(event_id bigint, attempt integer, status integer, error text, next_try interval, gives_up interval) returns text
-- tacet.settle_occasions(campaign text, user_id uuid, reason text) returns integer
-- tacet.shard_of(kind text, subject_id uuid, conversation_id uuid) returns integer
-- tacet.slot_days(slot text, zone text, first_day date, days integer, weekdays smallint[]) returns TABLE(fire_date date, fire_at timestamp with time zone)
-- tacet.slot_instant(slot text, zone text, day date) returns timestamp with time zone
-- tacet.slot_of_day(campaign text, user_id uuid, slot text, phase text, day date) returns SETOF tacet.slots
-- tacet.slot_time(slot text) returns time without time zone
-- tacet.slot_users(campaign text, are_new boolean, after_user uuid, users_max bigint) returns uuid[]
-- tacet.snooze_key(occasion tacet.occasions) returns text
-- tacet.snooze_occasion(occasion tacet.occasions, action text, happened_at timestamp with time zone, is_new boolean) returns jsonb
-- tacet.space_live_activity() returns trigger
-- tacet.start_live_activity(id text, user_id uuid, type text, attributes jsonb, state jsonb, alert jsonb, is_pushed boolean) returns text
-- tacet.stored_push_audience(event_kind text, subject_id uuid, surface_id uuid) returns SETOF tacet.push_recipient
-- tacet.stored_push_content(event_kind text, subject_id uuid) returns SETOF tacet.push_content
-- tacet.subject_of(id uuid) returns uuid
-- tacet.surely_end_live_activity(id text, reason text) returns void
-- tacet.surely_follow_row(type text, subject_id uuid) returns void
-- tacet.surface_of(id uuid) returns uuid
-- tacet.sync_read(user_id uuid, conversation_id uuid, message_ids uuid[], device_token text) returns bigint
-- tacet.table_of_users(schema_name name, table_name name) returns regclass
-- tacet.tables_read(function_names text[]) returns TABLE(function_name text, relation regclass)
-- tacet.take_cap(user_id uuid, cap_group text, day date DEFAULT NULL::date) returns boolean
-- tacet.take_missed(kinds text, failures_max integer) returns TABLE(kind text, subject_id uuid, failed_at timestamp with time zone)
-- tacet.take_row_texts(rows_max integer) returns TABLE(kind text, subject_id uuid, user_id uuid, composer text, facts text)
-- tacet.takes_part(conversation_id uuid, user_id uuid) returns boolean
-- tacet.takes_pushes(user_id uuid) returns boolean
-- tacet.target_mark(channel text, address text) returns text
-- tacet.tell_devices(user_id uuid) returns void
-- tacet.tell_hidden_rows()
-- tacet.tend_live_activities(activities_max integer) returns integer
-- tacet.text_values(named jsonb) returns jsonb
-- tacet.turn_of(user_id uuid) returns uuid
-- tacet.typed_id(expression text, ids regtype, type regtype) returns text
-- tacet.typed_subject(expression text, source regclass, name name) returns text
-- tacet.unix_us(moment timestamp with time zone) returns bigint
-- tacet.unlocalise(kind text, locale text DEFAULT NULL::text) returns integer
-- tacet.unread_count(user_id uuid) returns bigint
-- tacet.unread_counts(user_ids uuid[], time_max interval DEFAULT '00:00:00.05'::interval) returns bigint[]
-- tacet.unused_id(type text) returns text
-- tacet.unwatch(kind text) returns boolean
-- tacet.unwatch_activity(type text) returns boolean
-- tacet.update_live_activity(id text, state jsonb, alert jsonb DEFAULT NULL::jsonb, priority integer DEFAULT NULL::integer, relevance double precision DEFAULT NULL::double precision) returns text
-- tacet.user_locale(user_id uuid) returns text
-- tacet.user_time_zone(user_id uuid) returns text
-- tacet.users_of_device(address text) returns SETOF uuid
-- tacet.uses_accounts() returns boolean
-- tacet.uuid_of(id text) returns uuid
-- tacet.view_conversations(conversation_ids uuid[], user_ids uuid[], have_looked boolean[], have_left boolean[]) returns TABLE(conversation_id uuid, user_id uuid, is_participant boolean, is_skipped boolean)
-- tacet.view_surfaces(surface_kinds text[], surface_ids uuid[], user_ids uuid[], have_looked boolean[], have_left boolean[]) returns TABLE(surface_kind text, surface_id uuid, user_id uuid, is_viewer boolean, is_skipped boolean)
-- tacet.waiting_pushes(user_id uuid) returns TABLE(push_id uuid, kind text, title text, due_at timestamp with time zone, state text, cancel_key text)
-- tacet.wake(first_subject_id uuid) returns void
-- tacet.wake_at(moment timestamp with time zone) returns void
-- tacet.watch(kind text, source regclass, recipients regproc, title text, body text DEFAULT ''::text, fires_on text DEFAULT 'insert'::text, condition text DEFAULT 'true'::text, actor name DEFAULT NULL::name, surface name DEFAULT NULL::name, surface_kind text DEFAULT NULL::text, surface_table regclass DEFAULT NULL::regclass, id_column name DEFAULT 'id'::name, unnamed_actor text DEFAULT 'Someone'::text, presentation jsonb DEFAULT '{}'::jsonb, send_at name DEFAULT NULL::name, expires_in interval DEFAULT NULL::interval, cancel_key text DEFAULT NULL::text, composer jsonb DEFAULT NULL::jsonb) returns void
-- tacet.watch_activity(type text, source regclass, user_column name, fields jsonb, ended_when text DEFAULT 'false'::text, id_column name DEFAULT 'id'::name) returns void
-- tacet.watch_trigger_name(kind text, what text) returns name
-- tacet.watched_row_audience(event_kind text, subject_id uuid, surface_id uuid) returns SETOF tacet.push_recipient
-- tacet.watched_row_content(event_kind text, subject_id uuid) returns SETOF tacet.push_content
-- tacet.webhook_headers(body text, secret text) returns jsonb
-- tacet.wished_reminders(only_user uuid, switch text) returns TABLE(user_id uuid, time_zone text, preferences jsonb)
-- tacet.workout_audience(moment timestamp with time zone, only_user uuid) returns TABLE(user_id uuid, time_zone text, gap_days integer, slots jsonb, refusal text)
-- tacet.workout_material(user_id uuid, moment timestamp with time zone) returns jsonb
-- tacet.workout_slots(schedule jsonb) returns jsonb
-- tacet.workouts(schedule jsonb) returns TABLE(place bigint, slot text, weekday integer, type text)
-- tacet.zone_aliases() returns TABLE(alias text, name text)
-- tacet.zone_like(lost text) returns text
