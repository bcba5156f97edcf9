graph [
  name "gaia"
  description "Gaia: 11 AWS regions on four continents, full mesh (Hsieh et al., NSDI 2017)"
  node [
    id 0
    label "Virginia"
    place "Ashburn"
    region "US-VA"
    published_index 0
    Latitude 39.04372
    Longitude -77.48749
  ]
  node [
    id 1
    label "California"
    place "San Jose"
    region "US-CA"
    published_index 1
    Latitude 37.33939
    Longitude -121.89496
  ]
  node [
    id 2
    label "Oregon"
    place "Boardman"
    region "US-OR"
    published_index 2
    Latitude 45.83986
    Longitude -119.70058
  ]
  node [
    id 3
    label "Dublin"
    place "Dublin"
    region "IE"
    published_index 3
    Latitude 53.33306
    Longitude -6.24889
  ]
  node [
    id 4
    label "Frankfurt"
    place "Frankfurt am Main"
    region "DE"
    published_index 4
    Latitude 50.11552
    Longitude 8.68417
  ]
  node [
    id 5
    label "Tokyo"
    place "Tokyo"
    region "JP"
    published_index 5
    Latitude 35.6895
    Longitude 139.69171
  ]
  node [
    id 6
    label "Seoul"
    place "Seoul"
    region "KR"
    published_index 6
    Latitude 37.566
    Longitude 126.9784
  ]
  node [
    id 7
    label "Singapore"
    place "Singapore"
    region "SG"
    published_index 7
    Latitude 1.28967
    Longitude 103.85007
  ]
  node [
    id 8
    label "Sydney"
    place "Sydney"
    region "AU"
    published_index 8
    Latitude -33.86785
    Longitude 151.20732
  ]
  node [
    id 9
    label "Mumbai"
    place "Mumbai"
    region "IN"
    published_index 9
    Latitude 19.07283
    Longitude 72.88261
  ]
  node [
    id 10
    label "Sao Paulo"
    place "S&#227;o Paulo"
    region "BR"
    published_index 10
    Latitude -23.5475
    Longitude -46.63611
  ]
  edge [
    source 0
    target 1
    distance 3855.9425707449063
    published_distance 3560.859824767453
    capacity 1000000000.0
  ]
  edge [
    source 0
    target 2
    distance 3511.240103701916
    published_distance 3617.1058525455455
    capacity 1000000000.0
  ]
  edge [
    source 0
    target 3
    distance 5476.283271691272
    published_distance 5683.746538162422
    capacity 100000000.0
  ]
  edge [
    source 0
    target 4
    distance 6566.012970645416
    published_distance 6774.62010172149
    capacity 100000000.0
  ]
  edge [
    source 0
    target 5
    distance 10894.571455382264
    published_distance 11032.403521116341
    capacity 100000000.0
  ]
  edge [
    source 0
    target 6
    distance 11161.16033979893
    published_distance 11331.528778910633
    capacity 100000000.0
  ]
  edge [
    source 0
    target 7
    distance 15535.898122479237
    published_distance 15737.083172377323
    capacity 100000000.0
  ]
  edge [
    source 0
    target 8
    distance 15673.139836076181
    published_distance 15550.74835546916
    capacity 100000000.0
  ]
  edge [
    source 0
    target 9
    distance 12873.697377178214
    published_distance 13113.161300492078
    capacity 100000000.0
  ]
  edge [
    source 0
    target 10
    distance 7637.671508547401
    published_distance 7500.898168816753
    capacity 500000000.0
  ]
  edge [
    source 1
    target 2
    distance 961.5674404203687
    published_distance 825.4130940774442
    capacity 1500000000.0
  ]
  edge [
    source 1
    target 3
    distance 8213.881451564992
    published_distance 8111.218768362535
    capacity 100000000.0
  ]
  edge [
    source 1
    target 4
    distance 9175.904846293073
    published_distance 9096.865584257743
    capacity 100000000.0
  ]
  edge [
    source 1
    target 5
    distance 8354.869440025965
    published_distance 8620.547632468602
    capacity 100000000.0
  ]
  edge [
    source 1
    target 6
    distance 9116.499239592806
    published_distance 9370.063077937788
    capacity 300000000.0
  ]
  edge [
    source 1
    target 7
    distance 13661.204118479658
    published_distance 13930.612571776204
    capacity 100000000.0
  ]
  edge [
    source 1
    target 8
    distance 11951.137896865323
    published_distance 12160.544494528913
    capacity 300000000.0
  ]
  edge [
    source 1
    target 9
    distance 13572.101842968323
    published_distance 13727.28776621854
    capacity 100000000.0
  ]
  edge [
    source 1
    target 10
    distance 10358.327998554749
    published_distance 10079.072989313954
    capacity 100000000.0
  ]
  edge [
    source 2
    target 3
    distance 7338.855674843826
    published_distance 7551.970732123231
    capacity 300000000.0
  ]
  edge [
    source 2
    target 4
    distance 8269.19491367237
    published_distance 8488.896086335717
    capacity 100000000.0
  ]
  edge [
    source 2
    target 5
    distance 7989.532730489516
    published_distance 8028.469388699873
    capacity 100000000.0
  ]
  edge [
    source 2
    target 6
    distance 8623.903555190509
    published_distance 8700.031091458462
    capacity 300000000.0
  ]
  edge [
    source 2
    target 7
    distance 13269.957391196156
    published_distance 13325.366070623815
    capacity 100000000.0
  ]
  edge [
    source 2
    target 8
    distance 12549.029911401598
    published_distance 12383.076161347562
    capacity 100000000.0
  ]
  edge [
    source 2
    target 9
    distance 12705.14579225256
    published_distance 12902.319229980723
    capacity 100000000.0
  ]
  edge [
    source 2
    target 10
    distance 10633.91503943576
    published_distance 10610.577959918295
    capacity 100000000.0
  ]
  edge [
    source 3
    target 4
    distance 1089.7465451538985
    published_distance 1091.0035398064083
    capacity 1500000000.0
  ]
  edge [
    source 3
    target 5
    distance 9609.695349794607
    published_distance 9611.133798789571
    capacity 100000000.0
  ]
  edge [
    source 3
    target 6
    distance 8975.725627290554
    published_distance 8974.589549377932
    capacity 100000000.0
  ]
  edge [
    source 3
    target 7
    distance 11211.668137058492
    published_distance 11203.776982156216
    capacity 100000000.0
  ]
  edge [
    source 3
    target 8
    distance 17208.760213610894
    published_distance 17207.312372624874
    capacity 100000000.0
  ]
  edge [
    source 3
    target 9
    distance 7611.831067312507
    published_distance 7620.843594967312
    capacity 300000000.0
  ]
  edge [
    source 3
    target 10
    distance 9365.307133236338
    published_distance 9366.555606476215
    capacity 100000000.0
  ]
  edge [
    source 4
    target 5
    distance 9354.374122242725
    published_distance 9358.521215366647
    capacity 100000000.0
  ]
  edge [
    source 4
    target 6
    distance 8571.153464016697
    published_distance 8571.5714609335
    capacity 100000000.0
  ]
  edge [
    source 4
    target 7
    distance 10268.541727636673
    published_distance 10260.83044153216
    capacity 100000000.0
  ]
  edge [
    source 4
    target 8
    distance 16478.1819067716
    published_distance 16478.1341044152
    capacity 100000000.0
  ]
  edge [
    source 4
    target 9
    distance 6570.4833505157085
    published_distance 6578.168093870104
    capacity 500000000.0
  ]
  edge [
    source 4
    target 10
    distance 9807.728268283972
    published_distance 9807.409376220698
    capacity 100000000.0
  ]
  edge [
    source 5
    target 6
    distance 1155.0826755736314
    published_distance 1161.2277477992284
    capacity 1000000000.0
  ]
  edge [
    source 5
    target 7
    distance 5310.2165145081235
    published_distance 5311.118309037953
    capacity 1000000000.0
  ]
  edge [
    source 5
    target 8
    distance 7792.827411428829
    published_distance 7789.739742827469
    capacity 300000000.0
  ]
  edge [
    source 5
    target 9
    distance 6733.3016217831055
    published_distance 6751.3514540143415
    capacity 300000000.0
  ]
  edge [
    source 5
    target 10
    distance 18530.1964188865
    published_distance 18528.65557840507
    capacity 100000000.0
  ]
  edge [
    source 6
    target 7
    distance 4663.6882955092815
    published_distance 4658.7421490548095
    capacity 1000000000.0
  ]
  edge [
    source 6
    target 8
    distance 8297.033514746307
    published_distance 8296.033168577038
    capacity 100000000.0
  ]
  edge [
    source 6
    target 9
    distance 5601.56936922735
    published_distance 5613.893433078432
    capacity 500000000.0
  ]
  edge [
    source 6
    target 10
    distance 18337.76765449231
    published_distance 18337.930813275976
    capacity 100000000.0
  ]
  edge [
    source 7
    target 8
    distance 6293.48293296936
    published_distance 6301.111688839916
    capacity 300000000.0
  ]
  edge [
    source 7
    target 9
    distance 3908.1677552745473
    published_distance 3899.1833741194805
    capacity 500000000.0
  ]
  edge [
    source 7
    target 10
    distance 15998.248164991463
    published_distance 16000.059238393498
    capacity 100000000.0
  ]
  edge [
    source 8
    target 9
    distance 10149.075919199211
    published_distance 10144.778814121693
    capacity 100000000.0
  ]
  edge [
    source 8
    target 10
    distance 13377.021821221684
    published_distance 13377.864263189238
    capacity 100000000.0
  ]
  edge [
    source 9
    target 10
    distance 13781.713589695531
    published_distance 13772.602629233716
    capacity 100000000.0
  ]
]
