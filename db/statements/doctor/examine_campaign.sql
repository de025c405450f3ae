-- Calls the functions of a campaign for a user who does not exist.
--
--   :campaign  text  the campaign

select
  (
    select count(*)
    from tacet.campaign_eligible(:campaign, clock_timestamp(), null, tacet.lowest_user_id())
  ),
  (
    select count(*)
    from tacet.sessions_between(tacet.lowest_user_id(), clock_timestamp(), clock_timestamp())
  ),
  tacet.campaign_material(:campaign, tacet.lowest_user_id()) is null;
