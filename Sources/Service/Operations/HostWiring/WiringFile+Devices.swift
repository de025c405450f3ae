internal import Postgres

// Device tokens: those of the host, or in a table of the wiring.
extension WiringFile {
  var devicesTable: String {
    """
    -- Device tokens of APNs. No table of yours holds them. Apps register them with Tacet (PUT /v1/devices).
    create table if not exists tacet_host.devices (
      user_id \(plan.userIDs) not null\(userKey),
      registered_at timestamptz not null default clock_timestamp(),
      device_token text primary key,
      environment text,
      app text,
      platform text,
      locale text,
      time_zone text
    );
    create index if not exists devices_user_id_idx on tacet_host.devices (user_id, registered_at);
    """
  }

  var deviceFunctions: [String] {
    switch plan.devices {
    case .own: ownFunctions
    case .table(let devices): hostFunctions(devices)
    }
  }

  /// Who gets no pushes, and from whom.
  var barrierFunctions: [String] {
    var functions: [String] = []
    if let users = plan.users, !users.conditions.isEmpty {
      let conditions = users.conditions.map { $0.sql("u") }.joined(separator: " and ")
      let user = users.id.equals("takes_pushes.user_id", "u")
      functions.append(
        function(
          "takes_pushes(user_id \(plan.userIDs))", returns: "boolean", "plpgsql stable",
          comment: "Whether a user has an account that is in use, and wants pushes.",
          """
          begin
            return exists (select from \(users.table.sql) u where \(user) and \(conditions));
          end
          """))
    }
    if !plan.blocks.isEmpty {
      let blocks = plan.blocks.map { block in
        let (user, sender) = (
          block.blocker.equals("has_blocked.user_id", "b"), block.blocked.equals("has_blocked.sender_id", "b")
        )
        let conditions = block.conditions.map { " and \($0.sql("b"))" }.joined()
        return "exists (select from \(block.table.sql) b where \(user) and \(sender)\(conditions))"
      }
      functions.append(
        function(
          "has_blocked(user_id \(plan.userIDs), sender_id \(plan.userIDs))", returns: "boolean",
          "plpgsql stable",
          comment: "Whether a user wants nothing of a sender.",
          """
          begin
            return \(blocks.joined(separator: "\n    or "));
          end
          """))
    }
    return functions
  }

  private var account: [String] {
    plan.users?.conditions.isEmpty == false ? ["tacet.takes_pushes(device_tokens.user_id)"] : []
  }

  private func tokens(_ body: String) -> String {
    function(
      "device_tokens(user_id \(plan.userIDs))", returns: "table (device_token text, environment text, app text)",
      comment: "A user's devices, the newest first.", body)
  }

  private func owners(_ body: String) -> String {
    function(
      "device_token_owners(beginning text, owners_max int)",
      returns: "table (user_id \(plan.userIDs), device_token text)",
      comment: "Who has a token that begins like this, for the search of the pages.", body)
  }

  private func invalidation(_ body: String) -> String {
    function(
      "invalidate_device_token(device_token text, reason text, invalid_since timestamptz)", returns: "void",
      "sql volatile",
      comment: "Drops a token that APNs calls dead, unless it was registered again since.", body)
  }

  // MARK: Devices of the host

  private func hostFunctions(_ devices: DevicesGuess) -> [String] {
    let token = devices.tokenText("d")
    return [
      tokens(
        """
        select \(token), \(environment(of: devices)), \(devices.app?.plainText("d") ?? "null::text")
        from \(devices.table.sql) d
        where \(devices.user.equals("device_tokens.user_id", "d")) and \(token) is not null\
        \(and(devices.conditions.map { $0.sql("d") } + platforms(devices) + account))
        order by \(devices.registered.map { "d.\($0.name.quotedIdentifier) desc nulls last" } ?? token)
        limit 50
        """),
      invalidation(dropping(devices)),
      owners(
        """
        select \(devices.user.id("d")), \(token)
        from \(devices.table.sql) d
        where \(token) >= device_token_owners.beginning
          and \(token) < device_token_owners.beginning || 'g'
        order by \(token)
        limit device_token_owners.owners_max
        """),
    ]
  }

  private func environment(of devices: DevicesGuess) -> String {
    guard let column = devices.environment else { return "null::text" }
    let value = "d.\(column.name.quotedIdentifier)"
    if column.isFlag { return "case when \(value) then 'sandbox' else 'production' end" }
    return
      "case when lower(\(value)) in ('sandbox', 'development') then 'sandbox' when \(value) <> '' then 'production' end"
  }

  private func platforms(_ devices: DevicesGuess) -> [String] {
    guard let platform = devices.platform else { return [] }
    let value = "d.\(platform.name.quotedIdentifier)"
    return [
      "coalesce(lower(\(value)), 'ios') in ('', 'ios', 'ipados', 'macos', 'watchos', 'tvos', 'visionos', 'apns', 'apple')"
    ]
  }

  private func dropping(_ devices: DevicesGuess) -> String {
    let since = devices.registered.map {
      "\n  and coalesce(\($0.moment("d")), '-infinity') <= invalidate_device_token.invalid_since"
    }
    let condition = "where \(devices.tokenText("d")) = invalidate_device_token.device_token\(since ?? "")"
    if let column = devices.invalidated {
      return "update \(devices.table.sql) d\nset \(column.name.quotedIdentifier) = now()\n\(condition)"
    }
    guard devices.keepsRows else { return "delete from \(devices.table.sql) d\n\(condition)" }
    let nothing = devices.token.isNullable ? "null" : "".quotedLiteral
    return "update \(devices.table.sql) d\nset \(devices.token.name.quotedIdentifier) = \(nothing)\n\(condition)"
  }

  // MARK: Devices of the wiring

  private var ownFunctions: [String] {
    [
      tokens(
        """
        select d.device_token, d.environment, d.app
        from tacet_host.devices d
        where d.user_id = device_tokens.user_id\(and(account))
        order by d.registered_at desc
        limit 50
        """),
      invalidation(
        """
        delete from tacet_host.devices d
        where d.device_token = invalidate_device_token.device_token
          and d.registered_at <= invalidate_device_token.invalid_since
        """),
      registration,
      function(
        "remove_device(user_id \(plan.userIDs), device_token text)", returns: "boolean", "plpgsql volatile",
        comment: "Drops a token after a log-out. False when it is another user's, which stays.",
        """
        begin
          delete from tacet_host.devices d where d.device_token = remove_device.device_token and d.user_id = remove_device.user_id;
          return found or not exists (select from tacet_host.devices d where d.device_token = remove_device.device_token);
        end
        """),
      function(
        """
        learn_token_environment(
          device_token text, environment text, registered_environment text, registered_app text, read_at timestamptz
        )
        """, returns: "void", "sql volatile",
        comment: "Stores where APNs has accepted a token that another environment refused.",
        """
        update tacet_host.devices d
        set environment = learn_token_environment.environment
        where d.device_token = learn_token_environment.device_token and d.registered_at <= learn_token_environment.read_at
          and d.environment is not distinct from learn_token_environment.registered_environment
          and d.app is not distinct from learn_token_environment.registered_app
        """),
      owners(
        """
        select d.user_id, d.device_token
        from tacet_host.devices d
        where d.device_token >= device_token_owners.beginning and d.device_token < device_token_owners.beginning || 'g'
        order by d.device_token
        limit device_token_owners.owners_max
        """),
    ]
  }

  private var registration: String {
    let known = plan.users.map {
      "\n  where exists (select from \($0.table.sql) u where \($0.id.equals("register_device.user_id", "u")))"
    }
    return function(
      """
      register_device(
        user_id \(plan.userIDs), device_token text, environment text, app text, platform text, locale text, time_zone text,
        devices_max int
      )
      """, returns: "void", "plpgsql volatile",
      comment: "Makes a token a user's, and no other's. The user keeps the newest devices.",
      """
      #variable_conflict use_column
      begin
        insert into tacet_host.devices as d (user_id, device_token, environment, app, platform, locale, time_zone)
        select
          register_device.user_id, register_device.device_token, register_device.environment, register_device.app,
          register_device.platform, register_device.locale, register_device.time_zone\(known ?? "")
        on conflict (device_token) do update
        set
          user_id = excluded.user_id, registered_at = clock_timestamp(),
          environment = coalesce(excluded.environment, d.environment), app = coalesce(excluded.app, d.app),
          platform = coalesce(excluded.platform, d.platform), locale = excluded.locale, time_zone = excluded.time_zone;
        delete from tacet_host.devices d
        where d.device_token = any (array(
          select o.device_token
          from tacet_host.devices o
          where o.user_id = register_device.user_id
          order by o.registered_at desc
          offset register_device.devices_max));
      end
      """)
  }
}

extension DevicesGuess {
  /// The token in lower case without what applications put before it (`apple:`); null for what is none of APNs.
  func tokenText(_ row: String) -> String {
    "lower(substring(\(row).\(token.name.quotedIdentifier) from '[0-9A-Fa-f]{64,}$'))"
  }
}
