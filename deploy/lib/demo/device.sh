# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with the scripts that source this
# An app of the demo that arms its slots itself, with the JavaScript client: a week, offline, in another time zone, and back.

play_device() {
  local user device home
  headline "Dana's device arms a week, goes offline, travels and returns"
  user=$(sql tacet <<<"select user_id from demo.practising where name = 'Dana'")
  device=$(sql tacet -v user="$user" <<<"select device_token from public.push_tokens where user_id = :'user'")
  home=$(sql tacet <<<"select demo.noon_zone()")
  expect 'at each step the mornings and evenings of the week are armed, by the clock where the device is' \
    'at home: the week at 08:00 20:00
offline: the week at 08:00 20:00
offline, in another zone: the week at 08:00 20:00
online again, there: the week at 08:00 20:00
back at home: the week at 08:00 20:00' \
    "$(node "$checkout/deploy/lib/demo/device.mjs" "$url" "$(client_token "$jwt_secret" "$user")" "$device" "$home" Pacific/Auckland)"
  expect 'the service knows what the device shows by itself, and pushes none of it' 't 0' "$(sql tacet -F ' ' -v user="$user" <<<"
    select count(*) filter (where status = 'armed') >= 11, count(*) filter (where status = 'armed' and push_id is not null)
    from tacet.notif_deliveries where user_id = :'user' and fire_at > clock_timestamp()")"
}
