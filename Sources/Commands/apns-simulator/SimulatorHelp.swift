enum SimulatorHelp {
  static let text = [start, control, activities, faults, scenario, limits].joined(separator: "\n\n")

  private static let start = """
    It speaks HTTP/2 over TLS and judges each push as Apple's service does:
    provider token or client certificate, headers, topic, size, device token.
    Each refusal has Apple's reason. What it does not know, it refuses: so
    name a key and an app, and register device tokens, or accept any:

      apns-simulator --key ABC123DEFG:DEF123GHIJ:AuthKey.p8 \\
        --bundle com.example.app --accept-any-token --ca-out ca.pem

    The sender then needs the address, https://127.0.0.1:2197, and the
    authority to trust, ca.pem. With port 0 the system chooses one; the actual
    addresses are the first line of the output, in JSON.
    """

  private static let control = """
    Everything else is said to the control endpoint, in plain HTTP and JSON:

      PUT /tokens/TOKEN   {"environment": "production", "bundle_id": "..."}
                          and, if wanted, "unregistered_at_ms",
                          "expired_at_ms", "delay_ms", "answers":
                          [{"status": 503, "reason": "...", "times": 2}]
      GET /tokens         and DELETE /tokens/TOKEN
      POST /keys          {"key_id", "team_id", "pem"} and, if wanted,
                          "environment", "topics", "related_key_id"
      POST /bundles       {"bundle_id"} and, if wanted, "team_id"
      POST /certificates  {"pem", "topics"} and, if wanted, "environment":
                          a client certificate, self-signed ones too
      GET /pushes         ?after=N&limit=&token=&collapse_id=&apns_id=
                          each with connection, stream, arrival, a hash of
                          its provider token, and the answer it got
      GET /pushes/wait    ?count=N&timeout_ms=  until N pushes have come
      DELETE /pushes      forgets pushes, counters and screens
      GET /screen         what devices show, and how often each line came
      GET /lint           what was accepted and should not have been sent
      GET /connections    opened, refused, and those that are open
      GET /healthz
      GET /conduct        and POST /conduct  {"delay_ms", "idle_ms",
                          "token_rate": {"pushes", "seconds"}, "churn":
                          {"connections", "seconds", "refused_ms"}}; 0 in
                          idle_ms, pushes or connections takes a limit away
      POST /clock         {"advance_ms": 3600000}: the time that provider
                          tokens, expirations and rates are measured by
      POST /faults        {"kind": "goaway", "skip": 10, "times": 1}
      GET /faults         those that wait, and those that were met
      DELETE /faults      forgets both
    """

  private static let activities = """
    Live Activities: the token says what it is for. A start makes an activity
    on its device and, if the user allows updates, an update token.

      PUT /tokens/TOKEN   and "kind": "push_to_start", "attributes_type" and,
                          if wanted, "allows_updates": false; or
                          "kind": "update", "activity", "attributes_type":
                          the app has started that activity. "device" is a
                          name for all tokens of one device
      GET /activities     ?device=&activity=&limit=100&history=100
                          what devices show, and why they dropped pushes;
                          the newest activities, each with the newest pushes
      POST /activities/ACTIVITY/token    a new update token, {"token"}; the
                          old one expires. Also the user's late permission
      DELETE /activities/ACTIVITY        the user or the app ends it
      DELETE /activities  forgets all
      POST /conduct       {"allows_updates": false, "activity_budget": 15};
                          0 takes the hourly budget away
    """

  private static let faults = """
    A fault lets "skip" requests pass and hits the next "times", which is 1;
    faults follow one another. With "now": true it happens to every open
    connection at once. With "after_ms" nothing of it happens before that.

      answer              "status", "reason" or "raw_body" for a good push
      delay               the answer comes "delay_ms" later
      reset_stream        judged, then RST_STREAM with "code" (2)
      refuse_stream       not looked at: RST_STREAM with REFUSED_STREAM
      drop_before         the connection is cut, and the push not looked at
      drop_after          the connection is cut instead of the answer
      black_hole          the request is swallowed; the connection lives
      silence             the connection says nothing more, PINGs included
      ignore_pings        PINGs are not acknowledged; requests are answered
      streams             the limit becomes "streams", down or up
      goaway              "last_stream": current, previous, none, all or 7;
                          "code" (0); "debug" ({"reason":"Shutdown"}).
                          all, then a second one, is a shutdown in two steps
      refuse_connections  the next "times", or all for "for_ms"

      curl -X PUT localhost:2199/tokens/00ff -d \\
        '{"environment": "production", "bundle_id": "com.example.app"}'
      curl localhost:2199/faults -d '{"kind": "drop_after", "skip": 3}'
      curl 'localhost:2199/pushes/wait?count=1'
    """

  private static let scenario = """
    A scenario file holds the same orders, one JSON object on each line or
    all in an array, each under the name of what it orders. Without "at_ms"
    they are carried out before the first client can connect, with it so long
    after the start. A file with a mistake stops the start and names it.

      {"bundle": {"bundle_id": "com.example.app", "team_id": "DEF123GHIJ"}}
      {"device": {"token": "00ff", "environment": "production",
                  "bundle_id": "com.example.app"}}      (on one line)
      {"fault": {"kind": "answer", "status": 503, "skip": 100, "times": 3}}
      {"at_ms": 5000, "fault": {"kind": "goaway", "now": true}}
      {"at_ms": 9000, "conduct": {"delay_ms": 250}}

    The others are key, certificate and clock.
    """

  private static let limits = """
    It serves the device endpoint, /3/device/TOKEN. It keeps 10,000 activities;
    then the oldest finished ones are forgotten.

    SIGTERM and SIGINT stop it.
    """
}
